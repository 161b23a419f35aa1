import type { Counts } from './count.ts'
import type { FaultName } from './faults.ts'
import type { TopologyName } from './topologies.ts'

export interface Result {
  topology: TopologyName
  setting: string
  fault: FaultName
  counts: Counts | undefined
  /** The longest time between the loss of a primary and the next acknowledged record. */
  pauseSeconds: number
  /** Why the run failed; empty if it passed. */
  reasons: string[]
}

export function line({ topology, setting, fault, counts, pauseSeconds, reasons }: Result): string {
  const mark = reasons.length === 0 ? 'ok  ' : 'FAIL'
  const numbers = Object.entries(counts ?? {}).map(([name, count]) => `${name} ${count}`)
  return [
    `${mark} ${topology}, ${setting}, primary ${fault}: ${numbers.join(', ')}, pause ${pauseSeconds.toFixed(1)} s`,
    ...reasons.map((reason) => `     ${reason}`),
  ].join('\n')
}

export function table(results: readonly Result[]): string {
  const rows = results.map(({ topology, setting, fault, counts, pauseSeconds }) => {
    const { acknowledged = '', visible = '', lost = '', doubled = '', unknown = '' } = counts ?? {}
    const cells = [topology, setting, fault, acknowledged, visible, lost, doubled, unknown]
    return `| ${[...cells, `${pauseSeconds.toFixed(1)} s`].join(' | ')} |`
  })
  return [
    '| Redis | Setting | Primary | acknowledged | visible | lost | doubled | unknown | pause |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}
