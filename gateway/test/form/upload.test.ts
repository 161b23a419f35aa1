import t from 'tap'
import { createByteBudget, createShares } from '../../src/body/byte-budget.ts'
import { readUpload } from '../../src/form/upload.ts'
import { images } from '../support.ts'

const budget = createByteBudget({ bytesMax: 10_000_000, requests: createShares(10) })
const lease = budget.lease({ account: 'a', expectedBytes: 0 })
const rules = {
  bytesMax: 10_000_000,
  formBytesMax: Infinity,
  pixelsMax: 1_000_000,
  keepsMetadata: false,
}

/** Yields a picture. In the next turn, overwrites the width and height in the picture's header. */
async function* soonDamaged(picture: Buffer): AsyncGenerator<Buffer> {
  yield picture
  setImmediate(() => picture.fill(0, 16, 24))
}

t.test('a large picture is walked in another turn than it is put together', async (t) => {
  const large = Buffer.concat([images.png, Buffer.alloc(2_000_000)])
  const later = await readUpload(soonDamaged(large), { index: 0, rules, lease })
  t.match(later, { refusal: { code: 'attachment_unreadable' } }, 'it is damaged by then')
  const small = Buffer.from(images.png)
  const atOnce = await readUpload(soonDamaged(small), { index: 0, rules, lease })
  t.match(atOnce, { image: { contentType: 'image/png' } }, 'a small one is walked at once')
})
