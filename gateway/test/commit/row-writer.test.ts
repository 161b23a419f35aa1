import t from 'tap'
import { createRowWriter } from '../../src/commit/store-frame.ts'

const joined = (lines: string[]) => lines.map((line) => `${line}\n`).join('')

function createWriter(keptBytesMax: number) {
  const write = createRowWriter(keptBytesMax)
  return (lines: string[]) => write(lines.map((json) => ({ json })))
}

t.test('lines are printed as UTF-8, each with a line feed', async (t) => {
  const write = createWriter(1024)
  for (const lines of [[], ['a'], ['', 'ä', '日本', '👍🏽'], ['x'.repeat(300), 'é'.repeat(30)]]) {
    t.equal(write(lines).toString(), joined(lines))
  }
})

t.test('lines of every length are printed, also longer than the memory that is kept', async (t) => {
  const write = createWriter(64)
  for (const length of [1, 20, 21, 22, 63, 64, 5_000, 3]) {
    const lines = ['日'.repeat(length), 'b'.repeat(length)]
    t.equal(write(lines).toString(), joined(lines))
  }
})

t.test('memory is used again up to the maximum, and not kept beyond it', async (t) => {
  const write = createWriter(300)
  const { buffer } = write(['x'.repeat(80)])
  t.equal(write(['y']).buffer, buffer)
  t.not(write(['z'.repeat(1_000)]).buffer, buffer)
  t.equal(write(['y']).buffer, buffer)
})
