import type { Definition } from './definition.ts'

export const outcomeDefinitions: readonly Definition[] = [
  {
    name: 'outcomes',
    comment: 'How many records each API key had accepted or refused, per minute.',
    columns: {
      minute: 'Minute in which the record arrived (received_at), or was refused, UTC.',
      api_key_id: 'The API key; empty: no valid one.',
      kind: 'logs or feedback; empty: the request had neither path.',
      code: 'accepted; a code of docs/errors.md; dropped or sampled: acknowledged, and left out by a rule; suppressed: acknowledged, not stored; or overflow: not counted under its own key and code.',
      rule: 'The rule that left the records out (intake rules list); empty: none.',
      records:
        'Acknowledged or refused records. A repeat counts again; a refused request whose records were not read counts once.',
    },
    // DateTime64 for the reason given in counts.ts.
    select: `SELECT CAST(outcomes_raw.minute, 'DateTime64(3, ''UTC'')') AS minute, api_key_id, kind, code, rule, sum(records) AS records
FROM intake.outcomes_raw FINAL
GROUP BY minute, api_key_id, kind, code, rule`,
  },
  {
    name: 'watermark',
    comment: 'Up to which moment everything that was accepted is visible.',
    columns: {
      kind: 'logs or feedback.',
      visible_until:
        'Every record that was acknowledged before it, or has an earlier received_at, is visible or a dead letter. UTC.',
    },
    // One of a time when all clocks were ahead replaces others in a merge. Those of servers differ.
    select: `SELECT kind, max(watermark_raw.visible_until) AS visible_until
FROM intake.watermark_raw
GROUP BY kind
HAVING visible_until < now64(3, 'UTC') + toIntervalMinute(1)`,
  },
]
