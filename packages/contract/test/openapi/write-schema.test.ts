import t from 'tap'
import { Type } from 'typebox'
import { createSchemaWriter } from '../../src/openapi/write-schema.ts'

const { define } = createSchemaWriter({
  names: new Map(),
  recommended: new Map(),
  undocumented: new Set(),
})

t.test('a keyword without a rule is an error, because the document would lose it', async (t) => {
  const params = Type.Array(Type.String(), { uniqueItems: true })
  const error = { message: 'no rule for the keyword uniqueItems' }
  t.throws(() => define(params), error)
  t.throws(() => define(Type.Object({ params })), error)
  t.throws(() => define(Type.Array(params)), error)
  t.throws(() => define(Type.Union([params, Type.Null()])), error)
})

t.test('keywords that generators understand are kept', async (t) => {
  const schema = define(Type.String({ description: 'A name.', maxLength: 10 }))
  t.same(schema, { type: 'string', description: 'A name.', maxLength: 10 })
})
