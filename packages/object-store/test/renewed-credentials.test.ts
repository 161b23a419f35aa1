import t from 'tap'
import { renewCredentials, type TemporaryCredentials } from '../src/renewed-credentials.ts'

const minute = 60_000

/** A source of credentials that are valid for an hour. The test sets its clock. */
function createSource() {
  const source = { now: 0, loads: 0, failure: undefined as Error | undefined }
  const load = async (): Promise<TemporaryCredentials> => {
    source.loads++
    if (source.failure !== undefined) throw source.failure
    const accessKey = `key-${source.loads}`
    const expiresAtMs = source.now + 60 * minute
    return { accessKey, secretKey: 'secret', sessionToken: 'token', expiresAtMs }
  }
  return { source, find: renewCredentials({ load, wallMs: () => source.now }) }
}

t.test('they are loaded once for all who ask', async (t) => {
  const { source, find } = createSource()
  const found = await Promise.all([find(), find(), find()])
  const accessKeys = found.map(({ accessKey }) => accessKey)
  t.same(accessKeys, ['key-1', 'key-1', 'key-1'])
  source.now = 54 * minute
  t.match(await find(), { accessKey: 'key-1' })
  t.equal(source.loads, 1)
})

t.test('they are renewed before they expire, and nobody waits for it', async (t) => {
  const { source, find } = createSource()
  await find()
  source.now = 56 * minute
  t.match(await find(), { accessKey: 'key-1' })
  await new Promise(setImmediate)
  t.match(await find(), { accessKey: 'key-2' })
  t.equal(source.loads, 2)
})

t.test('while they cannot be renewed they are used until they expire', async (t) => {
  const { source, find } = createSource()
  await find()
  source.failure = new Error('STS is down')
  source.now = 56 * minute
  for (let request = 0; request < 10; request++) {
    t.match(await find(), { accessKey: 'key-1' })
    await new Promise(setImmediate)
  }
  t.equal(source.loads, 2, 'a failed renewal is not repeated by each request')
  source.now += 10_000
  await find()
  t.equal(source.loads, 3)
  await new Promise(setImmediate)
  source.now = 59.6 * minute
  await t.rejects(find(), { message: 'STS is down' })
  source.failure = undefined
  t.match(await find(), { accessKey: 'key-5' })
})
