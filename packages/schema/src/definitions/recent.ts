import type { Definition } from './definition.ts'

/** A terminal would interpret some characters, such as marks of direction. */
const printable = (column: string) =>
  String.raw`leftUTF8(replaceRegexpAll(${column}, '[\\p{C}\\p{Zl}\\p{Zp}]', ' '), 100)`

const latest = (kind: string, what: string, table: string) =>
  `SELECT '${kind}' AS kind, received_at, ${printable('bundle_identifier')} AS application, ${printable(what)} AS what, id
  FROM intake.${table} FINAL
  WHERE received_at >= now64(3, 'UTC') - INTERVAL 1 DAY
  ORDER BY received_at DESC, id DESC
  LIMIT 20`

/** What arrived last. It has GROUP BY so that, on a cluster, it reads all shards. */
export const recentDefinitions: readonly Definition[] = [
  {
    name: 'recent',
    comment:
      'The last 20 records of the last day, by arrival. Texts are cut, and safe in a terminal.',
    columns: {
      kind: 'log or feedback.',
      received_at: 'When the gateway accepted it, UTC.',
      application: 'The application.',
      what: 'Name of the event, or the text of the feedback.',
    },
    select: `SELECT kind, received_at, application, what
FROM (
  ${latest('log', 'event', 'logs_raw')}
  UNION ALL
  ${latest('feedback', 'text', 'feedback_raw')}
)
GROUP BY kind, received_at, application, what, id
ORDER BY received_at DESC, id DESC
LIMIT 20`,
  },
]
