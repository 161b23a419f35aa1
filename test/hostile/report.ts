import type { Notice } from './innocent.ts'
import type { Result, Seen } from './result.ts'

const passed = ({ reasons }: Result) => reasons.length === 0
/** The refusals of the innocent sender, or `none`. */
export const codes = ({ refusals }: Notice) =>
  Object.entries(refusals)
    .map(([code, count]) => `${count} × ${code}`)
    .join(', ') || 'none'

export function line(result: Result): string {
  const { id, title, seen, reasons, ms } = result
  const first = `${passed(result) ? 'ok  ' : 'FAIL'} ${id.padEnd(4)} ${title} (${Math.round(ms / 1_000)} s)`
  const details = [...(seen ? numbers(seen) : []), ...reasons.map((reason) => `failed: ${reason}`)]
  return [first, ...details.map((detail) => `     ${detail}`)].join('\n')
}

function numbers(result: Seen) {
  const { before, during, facts, peakMiB, cpuShare, waitShare, load, exitMs } = result
  const { connectionsEndMs, visibleMs } = result
  const seen = Object.entries(facts ?? {}).map(([name, value]) => `${name}: ${value}`)
  const gone = connectionsEndMs === null ? '' : `, connections closed after ${connectionsEndMs} ms`
  const visible = visibleMs === undefined ? '' : `, an event visible within ${visibleMs} ms`
  return [
    `before: p50 ${before.p50Ms} ms, slowest ${before.slowestMs} ms; ` +
      `during: ${during.responses} responses, p50 ${during.p50Ms} ms, slowest ${during.slowestMs} ms, ` +
      `refused ${codes(during)}${visible}`,
    `gateway: ${peakMiB} MiB, ${percent(cpuShare)} of a CPU, waiting for it ${percent(waitShare)}, SIGTERM ${exitMs} ms${gone}; load ${load}`,
    ...(seen.length > 0 ? [`attack: ${seen.join(', ')}`] : []),
  ]
}

const percent = (share: number) => `${Math.round(share * 100)} %`
