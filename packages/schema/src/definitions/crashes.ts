import { orderedVersion } from './counts.ts'
import type { Definition } from './definition.ts'
import { fingerprint } from './fingerprint.ts'

/** Where apps put a stack trace, or else a message. The first that is present counts. */
const traceParams =
  'stack stack_trace stacktrace stackTrace trace error exception message reason'.split(' ')
/** Where apps put an error as our clients write it: with `name`, `message` and `stack`. */
const errorParams = ['error', 'exception', 'crash']

const text = (path: string) => `params.${path}.:String`

/** The stack of an error; its name and message stand first, also where a browser omits them. */
const errorText = (param: string) => {
  const [name, message, stack] = ['name', 'message', 'stack'].map((part) =>
    text(`${param}.${part}`),
  )
  const head = `concat(coalesce(${name}, ''), ': ', coalesce(${message}, ''))`
  return `multiIf(
    isNull(${stack}), if(isNull(${name}) AND isNull(${message}), NULL, ${head}),
    isNull(${name}) OR startsWith(${stack}, assumeNotNull(${name})), ${stack},
    concat(${head}, '\\n', ${stack}))`
}

/** SQL for the stack trace of a log event, or else its message. */
export const crashText = `coalesce(${[...errorParams.map(errorText), ...traceParams.map(text)].join(',\n  ')}, '')`

export const crashDefinitions: readonly Definition[] = [
  {
    name: 'crashes',
    comment:
      'The crashes of an application: log events named crash, by the fingerprint of their stack trace. Computed from all its log events: filter by bundle_identifier.',
    columns: {
      bundle_identifier: 'The application.',
      fingerprint: 'intake_fingerprint of the stack trace: the same for the same crash.',
      example: 'Stack trace of the latest one; empty if the event has none.',
      example_id: 'Id of the latest one.',
      first_version:
        'The lowest version that has it: device.version_name, or else version_code; empty if none was sent.',
      last_version: 'The highest version that has it.',
      devices: 'Number of devices.',
      events: 'Number of events; of sampled ones, how many there were, estimated.',
      new_since: 'Time of the first one, UTC.',
      last_seen: 'Time of the latest one, UTC.',
    },
    select: `SELECT bundle_identifier, fingerprint,
  argMax(trace, (time, id)) AS example, argMax(id, (time, id)) AS example_id,
  argMinIf(version, ordered, version != '') AS first_version,
  argMaxIf(version, ordered, version != '') AS last_version,
  uniqExact(device_uuid) AS devices, round(sum(1 / sample_rate)) AS events,
  min(time) AS new_since, max(time) AS last_seen
FROM (
  SELECT bundle_identifier, time, id, device_uuid, sample_rate,
    ${crashText} AS trace,
    ${fingerprint('trace')} AS fingerprint,
    if(coalesce(device.version_name, '') = '', coalesce(toString(device.version_code), ''), assumeNotNull(device.version_name)) AS version,
    ${orderedVersion('device.version_code', "coalesce(device.version_name, '')")} AS ordered
  FROM intake.logs_raw FINAL
  WHERE event = 'crash'
)
GROUP BY bundle_identifier, fingerprint`,
  },
]
