import t from 'tap'
import { attempted, parseName } from '../src/core/entry-name.ts'
import { createHost } from './host.ts'

t.test('shutdown waits for the mark of an attempt, so another client finds all', async (t) => {
  const host = createHost()
  const { storage } = host
  let finish = () => {}
  const marking = new Promise<void>((resolve) => {
    host.storage = {
      ...storage,
      async rename(from, to) {
        if (parseName(to)!.state === attempted) {
          resolve()
          await new Promise<void>((done) => (finish = done))
        }
        return storage.rename(from, to)
      },
    }
  })
  host.server.faults.push('unreachable')
  const first = host.start()
  first.log('tap')
  void first.flush()
  await marking
  let hasEnded = false
  const ending = first.shutdown({ timeoutMs: 0 }).then(() => (hasEnded = true))
  await host.time.advance(500)
  t.notOk(hasEnded)
  finish()
  await host.time.advance(0)
  await ending

  host.storage = storage
  const second = host.start()
  void second.flush()
  await host.time.advance(0)
  t.equal(host.server.rows.size, 1)
})

t.test('a client that has ended renames nothing, even if it had not begun yet', async (t) => {
  const host = createHost()
  const { storage } = host
  const renamed: string[] = []
  host.storage = {
    ...storage,
    rename(from, to) {
      renamed.push(to)
      return storage.rename(from, to)
    },
  }
  let begin = () => {}
  // The start of the client waits for the information about the device.
  const device = new Promise<{ os: string }>((resolve) => (begin = () => resolve({ os: 'Test' })))
  const client = host.start({}, { device: () => device })
  client.log('tap')
  await host.time.advance(0)
  const ending = client.shutdown({ timeoutMs: 0 })
  await host.time.advance(0)
  await ending
  begin()
  await host.time.advance(0)
  t.same(renamed, [])
})
