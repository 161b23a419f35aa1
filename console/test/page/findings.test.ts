import { ClickHouseError } from '@intake/clickhouse'
import t from 'tap'
import type { Findings } from '../../src/page/findings.ts'
import { findingList } from '../../src/page/views/findings.ts'
import { createViewParts } from '../../src/page/without-clickhouse.ts'
import { readHeader } from '../../src/page/worker-state.ts'
import { calmState } from './fixture.ts'

const one = { bundle_identifier: 'com.example.shop', event: 'refund', events: 9, atMs: 0 }
const alert = { ...one, value: 3, sinceMs: 0 }
const findings: Findings = {
  alerts: Array.from({ length: 70 }, (_, n) => ({
    ...alert,
    state: n === 0 ? 'unknown' : 'firing',
  })),
  newErrors: [{ ...one, version: '2', before: 0 }],
  silent: [one],
  stopped: [one],
  drift: [{ ...one, param: 'a', version_to: '2', before: 'text', after: 'number' }],
  personal: [{ ...one, path: 'a', warning: 'email' }],
}
const budget = { name: 'shop-android', limit: 'events' as const, share: 0.91 }

function listOf(query: string, keys = 1): string {
  const data = { findings, isExact: true, countedAtMs: 0 } as never
  const header = readHeader(calmState, { query: new URLSearchParams(query) })
  const budgets = Array.from({ length: keys }, () => budget)
  return String(findingList({ header, data, budgets })).replaceAll(/<[^>]*>/g, '')
}

t.test('it says how many sentences it leaves out, and shows all on request', async (t) => {
  t.match(listOf(''), /and 69 more like this[^]*stopped[^]*and 2 more\s*$/)
  t.notMatch(listOf(''), 'has used 91 %')
  const whole = listOf('all=')
  t.equal(whole.match(/The alert on/g)?.length, 70)
  t.match(whole, /has used 91 % of its day[^]*midnight, UTC\s*$/)
  t.match(listOf('all=', 10), /midnight, UTC\s*Of each kind, at most 10 are read\.\s*$/)
})

t.test('a view whose every part fails is an error, whatever a part resolves to', async (t) => {
  const failure = new ClickHouseError('down', { kind: 'retry' })
  const { orElse, isPartial } = createViewParts()
  t.equal(await orElse(Promise.reject(failure), 7), 7)
  t.equal(await orElse(Promise.resolve(undefined), 7), undefined)
  t.throws(() => isPartial(), failure)
  const none: unknown[] = []
  t.equal(await orElse(Promise.resolve(none), none), none)
  t.equal(isPartial(), true, 'an empty list was read')
})
