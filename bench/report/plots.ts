import type { CpuByPart } from '../accounting.ts'

export function cpuBars(_title: string, _costs: [string, CpuByPart][]): string {
  return ''
}
