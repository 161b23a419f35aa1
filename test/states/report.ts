import { helpOf, type ProblemCode } from '@intake/health/problem-catalogue'
import { ways, type Way } from './observe.ts'

export interface Result {
  code: ProblemCode
  cause: string
  seenBy: string
  /** The ways in which the state can be seen. */
  possible: readonly Way[]
  /** For each way, the seconds until the state was seen; undefined if that took too long. */
  seconds: Partial<Record<Way, number | undefined>>
}

/** Returns a report in Markdown (`--write`). */
export function markdown(results: readonly Result[], limitSeconds: number): string {
  const rows = results.map(({ code, cause, seenBy, possible, seconds }) => {
    const cells = ways.map((way) =>
      possible.includes(way) ? (seconds[way]?.toFixed(1) ?? 'not seen') : '–',
    )
    const page = `\`${code}\` (${helpOf(code)})`
    return `| ${page} | ${seenBy} | ${cause} | ${cells.join(' | ')} |`
  })
  return `# How soon a bad state is seen

Each state is brought about in a running system of real processes under a little load; the columns say after how many
seconds it was seen in \`intake_problem\`, in \`/status\`, in the log, and as a firing alert of a real Prometheus with
the rules of deploy/observability. The limit is ${limitSeconds} s. \`worker_stuck\` is not brought about: a loop has to
hang for a minute before it counts as stuck, which only a defect of the worker can cause.

Command: \`npm run test:states\`, ${new Date().toISOString().slice(0, 10)}.

| Code | Seen by | Brought about by | Metric | \`/status\` | Log | Alert |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`
}
