import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import t from 'tap'
import { IntakeError, limits } from '@intake/contract'
import { checkJson, countNodes, parseJson, parseLossless, rowJson } from '@intake/json'
import { jsonText } from './json-text.ts'
import { expectEqual } from './stored.ts'
import { checkProperty } from './property.ts'

const parse = (text: string) => {
  let charged = 0
  const { value, isPlain } = parseJson(Buffer.from(text), {
    nodesMax: 1_000,
    charge: (bytes) => void (charged += bytes),
  })
  return { value, isPlain, charged }
}

const accepts = (parser: (text: string) => unknown, text: string) => {
  try {
    parser(text)
    return true
  } catch (error) {
    if (error instanceof IntakeError || error instanceof SyntaxError) return false
    throw error
  }
}

function equal(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) throw new Error('another value')
}

t.test('a document is parsed to its value, also by the lossless parser', async (t) => {
  await checkProperty(t, {
    runs: 1_500,
    value: jsonText,
    holds({ text, value }) {
      equal(parse(text).value, value)
      equal(parseLossless(text), value)
    },
  })
})

t.test('a broken document is refused by both parsers or by neither', async (t) => {
  const inserted = ['', '/**/', ...Array.from('"\\,:}0-.e\n\ufeff\u00a0')]
  const edit = fc.record({
    at: fc.nat(),
    remove: fc.nat(2),
    insert: fc.constantFrom(...inserted),
  })
  await checkProperty(t, {
    runs: 2_500,
    value: fc.tuple(jsonText, fc.array(edit, { minLength: 1, maxLength: 3 })),
    holds([{ text }, edits]) {
      let broken = text
      for (const { at, remove, insert } of edits) {
        const from = at % (broken.length + 1)
        broken = broken.slice(0, from) + insert + broken.slice(from + remove)
      }
      equal(accepts(parseLossless, broken), accepts(JSON.parse, broken))
      equal(
        accepts((json) => parse(json), broken),
        accepts(JSON.parse, broken.replace(/^\ufeff/, '')),
      )
    },
  })
})

t.test('a value is charged as its bytes are, without names that are repeated', async (t) => {
  await checkProperty(t, {
    runs: 1_000,
    value: jsonText,
    holds({ text, value }) {
      const printed = JSON.stringify(value, (_name, inner: unknown) =>
        typeof inner === 'bigint' ? String(inner) : inner,
      )
      equal(parse(text).charged, countNodes(Buffer.from(printed), 1_000) * limits.jsonNodeBytes)
    },
  })
})

t.test('a plain document passes the checks, and is printed as if it were not known', async (t) => {
  let plain = 0
  let all = 0
  await checkProperty(t, {
    runs: 1_500,
    value: jsonText,
    holds({ text }) {
      const { value, isPlain } = parse(text)
      all++
      if (!isPlain) return
      plain++
      checkJson(value)
      equal(JSON.stringify({ value }), rowJson({ value }))
    },
  })
  t.ok(plain > all / 10, `${plain} plain documents of ${all}`)
})

t.test('a row has the numbers and texts of its document', async (t) => {
  await checkProperty(t, {
    runs: 1_000,
    value: jsonText,
    holds({ value }) {
      const stored = parseLossless(rowJson({ value })) as { value: unknown }
      expectEqual(stored.value, value)
    },
  })
})
