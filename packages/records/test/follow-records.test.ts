import { once } from 'node:events'
import t from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import { followRecords, type Followed } from '../src/index.ts'

const hour = '2026-11-26 10'
const all = { kind: 'logs', filter: {}, since: `${hour}:00:00.000`, columns: 'id' } as const
/** Follows log events, of which only the ids are read. */
const follow = (
  clickhouse: Parameters<typeof followRecords>[0]['clickhouse'],
  { signal } = new AbortController(),
): AsyncGenerator<Followed> => followRecords({ ...all, clickhouse, signal })
const keyOf = (n: number, received_at = `${hour}:30:00.${String(n % 1_000).padStart(3, '0')}`) => ({
  bundle_identifier: 'shop',
  time: received_at,
  id: `id ${n}`,
  device_uuid: 'device',
  received_at,
})

t.test('many new records beside an old one are not read with all between them', async (t) => {
  const shown = Array.from({ length: 5_000 }, (_, n) => keyOf(n))
  const late = keyOf(9_999, `${hour}:00:00.000`)
  const fresh = Array.from({ length: 2_500 }, (_, n) => keyOf(10_000 + n, `${hour}:59:00.000`))
  const pages = [shown, [late, ...shown, ...fresh]]
  const reads: { poll: number; ids: number; first: string }[] = []
  let poll = 0
  const ending = new AbortController()
  const following = follow(
    {
      async query<Row>(sql: string) {
        if (!sql.includes('watermark')) return (pages.shift() ?? []) as Row[]
        if (++poll === 3) ending.abort()
        return []
      },
      async lines(_, params = {}) {
        const ids = (params['ids'] as string[] | undefined)?.length ?? 0
        reads.push({ poll, ids, first: String(params['first_received']) })
        return []
      },
    },
    ending,
  )
  for await (const { lines } of following) t.same(lines, [])
  const others = reads.filter((read) => read.poll === 2)
  t.same(others, [
    { poll: 2, ids: 200, first: late.received_at },
    { poll: 2, ids: 0, first: `${hour}:59:00.000` },
    { poll: 2, ids: 0, first: `${hour}:59:00.000` },
  ])
})

t.test('records that are too large for one statement are read by several', async (t) => {
  for (const code of [241, 396]) {
    const keys = Array.from({ length: 500 }, (_, n) => keyOf(n))
    const ending = new AbortController()
    const following = follow(
      {
        async query<Row>(sql: string) {
          return (sql.includes('watermark') ? [] : keys) as Row[]
        },
        async lines(_, { ids, first_received, last_received } = {}) {
          const found = keys.filter(
            ({ id, received_at }) =>
              (ids as string[] | undefined)?.includes(id) ??
              (received_at >= String(first_received) && received_at <= String(last_received)),
          )
          if (found.length > 100) {
            throw new ClickHouseError('no', { kind: 'split', code, isTooLarge: code === 241 })
          }
          return found.map(({ id }) => `{"key_of_line":"${id} device shop","id":"${id}"}`)
        },
      },
      ending,
    )
    const shown: string[] = []
    for await (const { lines } of following) {
      shown.push(...lines.map((line) => (JSON.parse(line) as { id: string }).id))
      if (lines.length === 0) ending.abort()
    }
    t.same(
      shown,
      keys.map(({ id }) => id),
    )
  }
})

t.test('following ends at once although ClickHouse does not respond', async (t) => {
  const ending = new AbortController()
  let signals = 0
  const never = async (_: string, __?: object, { signal }: { signal?: AbortSignal } = {}) => {
    signals++
    ending.abort()
    if (signal?.aborted !== true) await once(signal!, 'abort')
    throw new Error('given up')
  }
  const following = follow({ query: never, lines: never }, ending)
  t.same(await following.next(), { done: true, value: undefined })
  t.equal(signals, 1)
})

t.test('a failure is no end', async (t) => {
  const fail = () => Promise.reject(new Error('refused'))
  const following = follow({ query: fail, lines: fail })
  await t.rejects(following.next(), { message: 'refused' })
})
