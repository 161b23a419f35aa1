import t from 'tap'
import { Type } from 'typebox'
import { ConfigError, loadConfig } from '../src/config.ts'

const schema = Type.Object({
  PORT: Type.Integer({ minimum: 0, default: 3000 }),
  URL: Type.String(),
  TOKEN: Type.String({ minLength: 3 }),
})

t.test(
  'strings are converted to the types of the schema; an empty variable counts as unset',
  async (t) => {
    t.same(loadConfig(schema, { URL: 'x', TOKEN: 'abc', PORT: '', OTHER: 'y' }), {
      PORT: 3000,
      URL: 'x',
      TOKEN: 'abc',
    })
    t.equal(loadConfig(schema, { URL: 'x', TOKEN: 'abc', PORT: '80' }).PORT, 80)
  },
)

t.test('all problems are reported at once, by name and never by value', async (t) => {
  t.throws(
    () => loadConfig(schema, { PORT: 'eighty', TOKEN: 's3' }),
    new ConfigError(
      'configuration: URL must be set; PORT must be integer; TOKEN must not have fewer than 3 characters',
    ),
  )
})
