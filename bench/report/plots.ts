import type { CpuByPart } from '../accounting.ts'
export function cpuBars(_title: string, _costs: [string, CpuByPart][]): string {
  return ''
}
export function latencyBars(_levels: unknown[]): string {
  return ''
}
export function drainLine(_samples: unknown[]): string {
  return ''
}
export function memoryLine(_samples: unknown[]): string {
  return ''
}
