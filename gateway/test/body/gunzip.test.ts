import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { TakeTurn } from '@intake/http-edge'
import { gunzip } from '../../src/body/gunzip.ts'

const mib = 1024 * 1024

/** Creates a text that compresses little. */
const noise = (length: number) => randomBytes(length).toString('base64').slice(0, length)

const takeTurn: TakeTurn = async (work) => work()

async function unzip(body: Buffer, bytesMax = mib) {
  let bytes = 0
  const onChunk = ({ length }: Buffer) => void (bytes += length)
  const json = await gunzip(body, { bytesMax, takeTurn, onChunk })
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
      onChunk() {
        throw fault
      },
    })
    await t.rejects(unzipping, fault, `${length} bytes`)
  }
})

t.test('a body that may take long, however small it becomes, waits for a turn', async (t) => {
  const emptyBlock = Buffer.from([0, 0, 0, 0xff, 0xff])
  const small = gzipSync('{}')
  const header = small.subarray(0, 10)
  for (const [blocks, way] of [
    [1_000, 'at once'],
    [10_000, 'in a turn'],
    [20_000, 'in the thread pool'],
  ] as const) {
    const empty = Array.from({ length: blocks }, () => emptyBlock)
    const body = Buffer.concat([header, ...empty, small.subarray(10)])
    let announced = 0
    let turns = 0
    const unzipping = gunzip(body, {
      bytesMax: mib,
      async takeTurn(work) {
        turns++
        await new Promise(setImmediate)
        return work()
      },
      onChunk: () => announced++,
    })
    t.equal(announced > 0, way === 'at once', `${body.length} bytes`)
    t.equal(turns > 0, way === 'in a turn', `${body.length} bytes`)
    t.equal((await unzipping).toString(), '{}')
  }
})
