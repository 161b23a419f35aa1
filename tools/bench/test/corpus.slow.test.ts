import t from 'tap'
import { compileSchema, LogSubmission } from '@intake/contract/schemas'
import { createCorpus, type BodySize } from '../corpus.ts'

const textOf = (size: BodySize, seed: number) => JSON.stringify(createCorpus({ size, seed }))

t.test('the events are distinct, valid and of the stated size', async (t) => {
  const validate = compileSchema(LogSubmission)
  // Events of the smallest size have fewer device fields than larger events.
  for (const size of [400, 16_000] as const) {
    const texts = createCorpus({ size, seed: 1 }).map((body) => JSON.stringify(validate(body)))
    t.equal(new Set(texts).size, 1_024, `distinct events of ${size} B`)
    t.ok(texts.every((text) => Math.abs(text.length / size - 1) <= 0.1))
  }
})

t.test('the same seed gives the same events, another seed different ones', async (t) => {
  t.ok(textOf(1_300, 1) === textOf(1_300, 1))
  t.ok(textOf(1_300, 1) !== textOf(1_300, 2))
})
