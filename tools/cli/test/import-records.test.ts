import { compileRules } from '@intake/access'
import { dayMs } from '@intake/contract'
import type { NewFrame } from '@intake/queue/frame'
import t from 'tap'
import { importRecords } from '../src/import/import-records.ts'
import { findMap } from '../src/import/maps.ts'
import type { SourceRow } from '../src/import/read-rows.ts'

const mebibyte = 1024 * 1024

/** Imports events of PostHog whose property `s` has these texts. */
async function importTexts(
  texts: string[],
  change: (row: SourceRow) => SourceRow = (row) => row,
  retentionMs?: number,
  map = 'posthog',
  attempt = 1,
) {
  const frames: NewFrame[] = []
  const reasons: string[] = []
  async function* rows() {
    for (const [n, s] of texts.entries()) {
      const event = { uuid: `id-${n}`, event: 'tap', timestamp: '2026-11-01', distinct_id: 'u' }
      const text = JSON.stringify({ ...event, properties: { s } })
      yield change({ line: n + 1, text, header: [], cells: [], share: 1 })
    }
  }
  const result = await importRecords({
    rows: rows(),
    map: await findMap(map),
    bundleIdentifier: 'com.example.app',
    attempt,
    rate: 1_000_000,
    policy: { retentionMs: () => retentionMs, isSuppressed: () => false, rules: () => noRules },
    producer: { add: async (frame) => void frames.push(frame) },
    untilRoom: async () => Date.UTC(2026, 11),
    onRejected: async (_row, reason) => void reasons.push(reason),
    onProgress: () => {},
  })
  return { result, frames, reasons }
}
const noRules = compileRules({ rules: [], secret: undefined })

t.test('large events are in several frames, which Redis takes in time', async (t) => {
  const { result, frames } = await importTexts(Array<string>(300).fill('x'.repeat(100_000)))
  t.match(result, { imported: 300, rejected: 0 })
  t.ok(frames.length > 10, `${frames.length} frames`)
  t.ok(frames.every(({ jsonBytes }) => jsonBytes < 2 * mebibyte))
})

t.test('an event that is too large for a gateway is rejected', async (t) => {
  const { result, reasons } = await importTexts([
    'x'.repeat(mebibyte),
    'x'.repeat(mebibyte - 2_000),
  ])
  t.match(result, { imported: 1, rejected: 1 })
  t.match(reasons, [/^body_too_large/])
})

t.test('lines that are too old say nothing about the map', async (t) => {
  const old = Array<string>(150).fill('a')
  const { result, frames } = await importTexts(old, undefined, dayMs)
  t.match(result, { imported: 0, rejected: 150 })
  t.strictSame(frames, [])
  const first = (row: SourceRow) => {
    const text = row.line > 120 ? row.text : row.text.replace('2026-11-01', '2019-11-01')
    return { ...row, text }
  }
  t.match((await importTexts(old, first)).result, { imported: 30, rejected: 120 })
  const asText = (row: SourceRow) => ({ ...row, text: row.text.replace('"event"', '"name"') })
  await t.rejects(importTexts(old, asText), { name: 'UsageError', message: /does --map fit/ })
})

t.test('an export of Segment may begin with calls that are no events', async (t) => {
  const texts = Array<string>(150).fill('a')
  const call = (row: SourceRow) => {
    const type = row.line > 120 ? 'track' : 'identify'
    const event = { type, event: 'open', userId: 'u', timestamp: '2026-11-01' }
    return { ...row, text: JSON.stringify(event) }
  }
  const { result } = await importTexts(texts, call, undefined, 'segment')
  t.match(result, { imported: 30, rejected: 120 })
})
