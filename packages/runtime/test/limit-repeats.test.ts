import t from 'tap'
import { limitRepeats } from '../src/limit-repeats.ts'

function createReport() {
  const clock = { ms: 0 }
  const lines: [string, number][] = []
  const report = limitRepeats((error, omitted) => lines.push([(error as Error).message, omitted]), {
    now: () => clock.ms,
  })
  return { clock, lines, report }
}

const readonly = new Error("READONLY You can't write against a read only replica.")
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

t.test('a thousand equal errors per second are few lines, with their number', async (t) => {
  const { clock, lines, report } = createReport()
  for (; clock.ms < 180_000; clock.ms++) report(readonly)
  const seconds = [1, 2, 4, 8, 16, 32, 60]
  t.same(
    lines,
    [0, ...seconds.map((pause) => pause * 1_000 - 1)].map((omitted) => [readonly.message, omitted]),
  )
})

t.test('a different error is reported at once', async (t) => {
  const { lines, report } = createReport()
  for (const error of [readonly, refused, readonly, refused]) report(error)
  t.same(lines, [
    [readonly.message, 0],
    [refused.message, 0],
  ])
})

t.test('an error that reappears after a while is reported at once', async (t) => {
  const { clock, lines, report } = createReport()
  report(refused)
  report(refused)
  clock.ms = 62_000
  report(refused)
  clock.ms = 63_000
  report(refused)
  const found = lines.map(([, omitted]) => omitted)
  t.same(found, [0, 1, 0])
})

t.test('any number of different errors use bounded memory, and each is reported', async (t) => {
  const { lines, report } = createReport()
  for (let count = 0; count < 1_000; count++) report(new Error(`kind${count}`))
  report(new Error('kind999'))
  report(new Error('kind0'))
  t.equal(lines.length, 1_001)
})
