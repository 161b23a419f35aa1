import { availableParallelism } from 'node:os'
import type { Notice } from './innocent.ts'
import type { Result, Seen } from './result.ts'

/** The results of a run, and the version that was tested. */
export interface Run {
  /** The last commit that changed the product. */
  commit: string
  date: string
  node: string
  command: string
  results: Result[]
}

const passed = ({ reasons }: Result) => reasons.length === 0
const refused = ({ refusals }: Notice) => Object.values(refusals).reduce((sum, one) => sum + one, 0)
const codes = ({ refusals }: Notice) =>
  Object.entries(refusals)
    .map(([code, count]) => `${count} × ${code}`)
    .join(', ')

export function line(result: Result): string {
  const { id, title, seen, reasons, ms } = result
  const first = `${passed(result) ? 'ok  ' : 'FAIL'} ${id.padEnd(4)} ${title} (${Math.round(ms / 1_000)} s)`
  const details = [...(seen ? numbers(seen) : []), ...reasons.map((reason) => `failed: ${reason}`)]
  return [first, ...details.map((detail) => `     ${detail}`)].join('\n')
}

function numbers(result: Seen) {
  const { before, during, facts, peakMiB, cpuShare, waitShare, load, exitMs } = result
  const { connectionsEndMs, visibleMs } = result
  const seen = Object.entries(facts ?? {}).map(([name, value]) => `${name} ${value}`)
  const gone = connectionsEndMs === null ? '' : `, connections closed after ${connectionsEndMs} ms`
  const visible = visibleMs === undefined ? '' : `, an event visible within ${visibleMs} ms`
  return [
    `before: p50 ${before.p50Ms} ms, slowest ${before.slowestMs} ms; ` +
      `during: ${during.responses} responses, p50 ${during.p50Ms} ms, slowest ${during.slowestMs} ms, ` +
      `refused ${codes(during) || 'none'}${visible}`,
    `gateway: ${peakMiB} MiB, ${percent(cpuShare)} of a CPU, waiting for it ${percent(waitShare)}, SIGTERM ${exitMs} ms${gone}; load ${load}`,
    ...(seen.length > 0 ? [`attack: ${seen.join(', ')}`] : []),
  ]
}

const percent = (share: number) => `${Math.round(share * 100)} %`

/** Returns a report in Markdown (`--write`); `before` is a run of an earlier version. */
export function markdown(run: Run, before?: Run): string {
  const { results, command, date, node, commit } = run
  const row = (texts: string[]) => `| ${texts.join(' | ')} |`
  const earlier = new Map(before?.results.map((result) => [result.id, result]))
  const head = ['', 'What is sent', 'Slowest, ms', 'p50, ms', 'Refused', 'MiB', 'Result']
  const headBefore = before
    ? ['Slowest before', 'Refused before', 'MiB before', 'Result before']
    : []
  const lines = results.map((result) => {
    const old = before ? cellsBefore(earlier.get(result.id)) : []
    return row([result.id, result.title, ...cells(result), ...old])
  })
  const loads = results.flatMap(({ seen }) => (seen ? [seen.load] : []))
  const failed = results.filter((result) => !passed(result))
  const count = `${results.length - failed.length} of ${results.length} cases passed`
  return [
    '# Results of the hostile suite',
    '',
    `\`${command}\`, ${date}, commit ${commit}, Node ${node}: ${count}.`,
    ...(before ? [`Before: ${before.date}, commit ${before.commit}, Node ${before.node}.`] : []),
    '',
    'Each case attacks its own gateway (heap limit 512 MB) for ten seconds over real sockets. Meanwhile an',
    'innocent sender sends 20 records a second with another key, every other one over a new connection. The',
    'table shows its median and slowest response from the start of the attack to two seconds after its end,',
    'its requests without an acknowledgement, and the peak memory of the gateway. A case passes if no',
    'response takes more than 1,500 ms, no request is refused, the gateway uses at most 900 MiB (500 in a)',
    'and exits on SIGTERM with code 0, every acknowledged record is visible once, and the conditions of the',
    'case hold. All processes share one machine, with a load average of',
    `${Math.min(...loads)} to ${Math.max(...loads)} on ${availableParallelism()} CPUs, so times are upper limits.`,
    '',
    row([...head, ...headBefore]),
    row([...head, ...headBefore].map((_, at) => (at >= 2 ? '--:' : '---'))),
    ...lines,
    '',
    ...(failed.length > 0 ? ['## What failed', '', ...failed.map(reasonsOf), ''] : []),
  ].join('\n')
}

function cells(result: Result): string[] {
  const { seen } = result
  const status = passed(result) ? 'passed' : 'failed'
  if (seen === undefined) return ['', '', '', '', status]
  const { during, peakMiB, died } = seen
  return [
    String(during.slowestMs),
    String(during.p50Ms),
    `${refused(during)} of ${during.responses}`,
    String(peakMiB),
    died ? 'gateway died' : status,
  ]
}

function cellsBefore(result: Result | undefined): string[] {
  if (result === undefined) return ['', '', '', '']
  return cells(result).filter((_, at) => at !== 1)
}

const reasonsOf = ({ id, reasons }: Result) => `- ${id}: ${reasons.join('; ')}`
