import type { Problems, WorkerReport } from '@intake/health'
import { systemClock } from '@intake/runtime'
import type { DeliveryEvents } from '../deliver/ports.ts'

/** Several times the interval at which consoles read the reports. */
const recentMs = 30_000

/** What this worker tells consoles: its problems, and when feedback became visible. */
export function createWorkerReport() {
  let frames = 0
  let recent: { atMs: number; receivedAtMs: number }[] = []

  return {
    /** Call it for each frame whose rows became visible. */
    visible: ((kind, { receivedAtMs }) => {
      if (kind !== 'feedback' || receivedAtMs === undefined) return
      frames++
      recent = recent.filter(({ atMs }) => systemClock.now() - atMs < recentMs)
      recent.push({ atMs: systemClock.now(), receivedAtMs })
    }) satisfies DeliveryEvents['visible'],

    print({ present }: Pick<Problems, 'present'>): string {
      const times = recent.map(({ receivedAtMs }) => receivedAtMs)
      const oldestMs = times.length === 0 ? null : Math.min(...times)
      const report: WorkerReport = { problems: present(), feedback: { frames, oldestMs } }
      return JSON.stringify(report)
    },
  }
}
