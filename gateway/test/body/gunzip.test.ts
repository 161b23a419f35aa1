import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { TakeTurn } from '@intake/http-edge'
import { gunzip } from '../../src/body/gunzip.ts'

const mib = 1024 * 1024

/** Creates a text that compresses little. */
const noise = (length: number) => randomBytes(length).toString('base64').slice(0, length)

const takeTurn: TakeTurn = async (work) => work()
const takePooled = (work: () => Promise<void>) => work()

async function unzip(body: Buffer, bytesMax = mib) {
  let bytes = 0
  const onChunk = ({ length }: Buffer) => void (bytes += length)
  const json = await gunzip(body, { bytesMax, takeTurn, takePooled, onChunk })
  return { text: json.toString(), bytes }
}

/** Returns a copy of a gzip body whose last four bytes claim this size. */
function claiming(body: Buffer, bytes: number): Buffer {
  const copy = Buffer.from(body)
  copy.writeUInt32LE(bytes, copy.length - 4)
  return copy
}

t.test('a body of any size is decompressed, and all its bytes are announced', async (t) => {
  for (const length of [0, 1, 1_000, 65_535, 65_536, 65_537, 300_000]) {
    const text = noise(length)
    t.same(await unzip(gzipSync(text)), { text, bytes: length })
  }
})

t.test('a body in several members is decompressed whole, whatever it claims', async (t) => {
  const parts = [100, 60_000, 70_000, 1].map(noise)
  const { text } = await unzip(Buffer.concat(parts.map((part) => gzipSync(part))))
  t.equal(text, parts.join(''))
})

t.test('a body that claims a wrong size, or is damaged, is refused', async (t) => {
  const body = gzipSync('x'.repeat(1_000))
  const damaged = [
    claiming(body, 5),
    claiming(body, 70_000),
    body.subarray(0, -9),
    body.subarray(0, 3),
    Buffer.alloc(0),
    Buffer.from('no gzip at all'),
  ]
  for (const one of damaged) await t.rejects(unzip(one), { code: 'invalid_encoding' })
})

t.test('a body that expands over the maximum is refused, whatever it claims', async (t) => {
  const bomb = gzipSync(Buffer.alloc(2 * mib))
  for (const body of [bomb, claiming(bomb, 10)]) {
    await t.rejects(unzip(body), { code: 'body_too_large' })
  }
  await t.rejects(unzip(gzipSync('x'.repeat(101)), 100), { code: 'body_too_large' })
})

t.test('a fault of the gateway while it decompresses is no fault of the body', async (t) => {
  const fault = new TypeError('a fault')
  for (const length of [10, 300_000]) {
    const unzipping = gunzip(gzipSync(noise(length)), {
      bytesMax: mib,
      takeTurn,
      takePooled,
      onChunk() {
        throw fault
      },
    })
    await t.rejects(unzipping, fault, `${length} bytes`)
  }
})

t.test('a body that may take long, however small it becomes, waits for its turns', async (t) => {
  const emptyBlock = Buffer.from([0, 0, 0, 0xff, 0xff])
  const small = gzipSync('{}')
  const header = small.subarray(0, 10)
  for (const [blocks, inLoop, inPool] of [
    [800, 0, 0],
    [1_000, 1, 0],
    [10_000, 1, 0],
    [20_000, 0, 2],
    [100_000, 0, 8],
  ] as const) {
    const empty = Array.from({ length: blocks }, () => emptyBlock)
    const body = Buffer.concat([header, ...empty, small.subarray(10)])
    const turns = { inLoop: 0, inPool: 0 }
    let running = 0
    const json = await gunzip(body, {
      bytesMax: mib,
      async takeTurn(work) {
        turns.inLoop++
        await new Promise(setImmediate)
        return work()
      },
      async takePooled(work) {
        turns.inPool++
        t.equal(++running, 1)
        await work()
        running--
      },
      onChunk: () => {},
    })
    t.same(turns, { inLoop, inPool }, `${body.length} bytes`)
    t.equal(json.toString(), '{}')
  }
})

t.test('a body is decompressed no further when its turn is refused', async (t) => {
  const gone = new Error('gone')
  let turns = 0
  const unzipping = gunzip(gzipSync(noise(900_000)), {
    bytesMax: mib,
    takeTurn,
    async takePooled(work) {
      if (++turns === 3) throw gone
      await work()
    },
    onChunk: () => {},
  })
  await t.rejects(unzipping, gone)
  t.equal(turns, 3)
})
