import t from 'tap'
import { createLogger } from '@intake/runtime'
import { insertUntilConfirmed } from '../src/persistent-insert.ts'

const merge = { rows: 1, members: [Buffer.from('x')] }

function build(failures: number) {
  let calls = 0
  const lines: string[] = []
  const stop = new AbortController()
  const log = createLogger({
    name: 'worker',
    level: 'info',
    destination: { write: (line) => void lines.push(line) },
  })
  const done = insertUntilConfirmed({
    store: {
      async insertGzip() {
        calls++
        if (calls <= failures) throw new Error('ClickHouse is away')
      },
    },
    kind: 'logs',
    merge,
    signal: stop.signal,
    log,
  })
  return { done, stop, lines, calls: () => calls }
}

t.test('repeats until the insert is confirmed, and says so', async (t) => {
  const { done, lines, calls } = build(1)
  await done
  t.equal(calls(), 2)
  t.match(lines.join(''), 'insert failed; it will be repeated')
})

t.test('gives up only when it is told to', async (t) => {
  const { done, stop, calls } = build(Infinity)
  stop.abort()
  await t.rejects(done, { name: 'AbortError' })
  t.equal(calls(), 1)
})
