import { createHash } from 'node:crypto'
import t from 'tap'
import { createLogger } from '@intake/runtime/process'
import { commitWithImages } from '../../src/commit/commit-with-images.ts'
import { createIdentity } from '@intake/identity'

const log = createLogger({ name: 'test', level: 'error', destination: { write: () => {} } })

t.test('a second attempt of a record with different bytes overwrites nothing', async (t) => {
  const objects = new Map<string, Buffer>()
  const identity = createIdentity(Date.now())
  const commitImage = async (text: string): Promise<string> => {
    const body = Buffer.from(text)
    const sha256 = createHash('sha256').update(body).digest('hex')
    let key = ''
    await commitWithImages({
      store: {
        put: async (object) => void objects.set(object.key, object.body),
        remove: async () => {},
      },
      identity,
      images: [{ body, contentType: 'image/png', extension: 'png', sha256, sentSha256: sha256 }],
      repeatable: true,
      log,
      requestId: 'r',
      commit: async ([stored]) => void (key = stored?.key ?? ''),
    })
    t.match(key, sha256)
    return key
  }
  const first = await commitImage('one')
  const second = await commitImage('another')
  t.equal(await commitImage('one'), first, 'a repeat stores the same object')
  t.same([objects.get(first), objects.get(second)].map(String), ['one', 'another'])
})
