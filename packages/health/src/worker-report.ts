import { tryJson } from '@intake/runtime'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'

/** What a worker tells consoles through Redis. */
const WorkerReport = Type.Object({
  problems: Type.Array(
    Type.Object({
      code: Type.String(),
      state: Type.Union([Type.Literal('degraded'), Type.Literal('down')]),
      since: Type.String({ description: 'An ISO time.' }),
      detail: Type.String(),
      help: Type.String(),
    }),
  ),
  feedback: Type.Object(
    { frames: Type.Number(), oldestMs: Type.Union([Type.Number(), Type.Null()]) },
    {
      description:
        'How many frames of feedback the worker has stored since it started, and when the oldest feedback of the ' +
        'latest ones arrived, in ms since 1970.',
    },
  ),
})
export type WorkerReport = Static<typeof WorkerReport>

/** Parses a report; undefined if another version of Intake wrote it in another form. */
export function parseWorkerReport(text: string): WorkerReport | undefined {
  const report = tryJson(text)
  return Value.Check(WorkerReport, report) ? report : undefined
}
