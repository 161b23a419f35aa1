import t from 'tap'
import { createTurns } from '@intake/http-edge'
import { createByteBudget, createShares } from '../../src/body/byte-budget.ts'
import { examineUpload, readUpload } from '../../src/form/upload.ts'
import { file, payload, send } from '../forms.ts'
import { images, startGateway } from '../support.ts'

const budget = createByteBudget({ bytesMax: 10_000_000, requests: createShares(10) })
const lease = budget.lease({ account: 'a', expectedBytes: 0 })
const rules = {
  bytesMax: 10_000_000,
  formBytesMax: Infinity,
  pixelsMax: 1_000_000,
  keepsMetadata: false,
}

t.test('each picture is examined in a turn of the event loop of its own', async (t) => {
  const gateway = await startGateway(t)
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const [forms, pictures] = [32, 4]
  const parts = [payload(), ...Array.from({ length: pictures }, () => file(images.png))]
  await Promise.all(Array.from({ length: forms }, () => send(gateway, parts)))
  isOver = true
  t.equal(gateway.objects.size, forms * pictures)
  t.ok(turns >= forms * pictures, `${turns} turns`)
})

t.test('the pictures of one API key wait for at most one of another', async (t) => {
  const turns = createTurns()
  const received = await readUpload([images.png], { index: 0, rules, lease })
  const examined: string[] = []
  const examine = async (account: string) => {
    await examineUpload(received, { index: 0, rules, turns, account })
    examined.push(account)
  }
  await Promise.all([...Array.from({ length: 9 }, () => examine('a')), examine('b')])
  t.ok(examined.indexOf('b') <= 2, examined.join())
})
