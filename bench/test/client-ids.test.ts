import t from 'tap'
import { freshIds, idPlaceholder } from '../load/client-ids.ts'
import { prepareRequests, type RequestKind } from '../load/requests.ts'

const idsIn = (request: Buffer) =>
  request.toString().match(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g)

t.test('every placeholder of every request gets its own id', async (t) => {
  const at = freshIds([Buffer.from(`a ${idPlaceholder} b ${idPlaceholder} c`)], 'uuidv7')
  const requests = [at(0), at(1)]
  for (const request of requests) t.match(request.toString(), /^a [\da-f-]{36} b [\da-f-]{36} c$/)
  t.equal(new Set([...requests.flatMap(idsIn), idPlaceholder]).size, 5)
})

t.test('a request does not change when a later one is created', async (t) => {
  const at = freshIds([Buffer.from(idPlaceholder)], 'uuidv7')
  const first = at(0)
  const before = first.toString()
  at(1)
  t.equal(first.toString(), before)
})

t.test('a UUIDv7 has the time of the request', async (t) => {
  const begin = Date.now()
  const id = freshIds([Buffer.from(idPlaceholder)], 'uuidv7')(0).toString()
  const time = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
  t.ok(time >= begin && time <= Date.now(), `${time}`)
  t.match(id, /^.{14}7/)
})

t.test('a log and each entry of a batch have an id', async (t) => {
  const kinds: RequestKind[] = [
    { kind: 'log', size: 1_300, ids: 'uuidv4' },
    { kind: 'batch', size: 1_300, entries: 3, gzip: false, ids: 'uuidv7' },
  ]
  for (const kind of kinds) {
    const [head, body = ''] = prepareRequests(kind, 'key').at(0).toString().split('\r\n\r\n')
    t.match(head, new RegExp(`content-length: ${Buffer.byteLength(body)}$`))
    const { log, logs = [log] } = JSON.parse(body) as Record<'log', { id: string }> & {
      logs?: { id: string }[]
    }
    const ids = logs.map(({ id }) => id)
    t.equal(new Set([...ids, idPlaceholder]).size, kind.kind === 'batch' ? 4 : 2)
    for (const id of ids) t.match(id, kind.kind === 'batch' ? /^.{14}7/ : /^.{14}4/)
  }
})

t.test('without ids the prepared bytes are sent in turn', async (t) => {
  const requests = prepareRequests({ kind: 'log', size: 400 }, 'key')
  t.equal(requests.at(0), requests.at(1_024))
  t.not(requests.at(0), requests.at(1))
  t.notMatch(requests.at(0).toString(), '"id"')
})
