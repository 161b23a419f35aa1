import t from 'tap'
import { objectAt, openStore } from '@intake/test-kit/open-store'
import { ownS3 } from '@intake/test-kit/own-services'

const store = openStore(t, (await ownS3(t)).url)

t.test('all keys with a prefix are listed, in more than one page', async (t) => {
  await store.ensureBucket()
  const keys = Array.from({ length: 1_010 }, (_, n) => `listed/${String(n).padStart(4, '0')}.png`)
  for (let at = 0; at < keys.length; at += 32) {
    await Promise.all(keys.slice(at, at + 32).map((key) => store.put(objectAt(key))))
  }
  const listed: string[] = []
  for await (const key of store.list('listed/')) listed.push(key)
  t.same(listed, keys)
  await store.remove([...keys.slice(1), 'listed/none.png'])
  const left: string[] = []
  for await (const key of store.list('listed/')) left.push(key)
  t.same(left, keys.slice(0, 1))
})
