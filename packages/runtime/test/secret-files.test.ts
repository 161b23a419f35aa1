import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Type } from 'typebox'
import { ConfigError } from '../src/config-error.ts'
import { loadConfig } from '../src/config.ts'

const schema = Type.Object({
  PORT: Type.Integer({ default: 80 }),
  URL: Type.String({ hasCredentials: true }),
  PASSWORD: Type.String({ writeOnly: true, minLength: 3 }),
  TOKEN: Type.Optional(Type.String({ writeOnly: true })),
})

t.test('a secret is read from the file that NAME_FILE names, without the line end', async (t) => {
  const dir = t.testdir({ url: 'http://a:b@host\n', password: 'pass word\r\n' })
  const config = loadConfig(schema, {
    URL: '',
    URL_FILE: join(dir, 'url'),
    PASSWORD_FILE: join(dir, 'password'),
    TOKEN_FILE: '',
  })
  t.same(config, { PORT: 80, URL: 'http://a:b@host', PASSWORD: 'pass word' })
})

t.test('all problems with files are reported at once, and with them the other ones', async (t) => {
  const dir = t.testdir({ empty: '\n', short: 's3' })
  t.throws(
    () =>
      loadConfig(schema, {
        PORT: 'eighty',
        URL: 'http://host',
        URL_FILE: join(dir, 'url'),
        PASSWORD_FILE: join(dir, 'short'),
        TOKEN_FILE: join(dir, 'empty'),
      }),
    new ConfigError([
      'URL and URL_FILE must not both be set',
      'TOKEN_FILE names a file that is empty',
      'PORT must be integer',
      'PASSWORD must not have fewer than 3 characters',
    ]),
  )
  t.throws(
    () => loadConfig(schema, { URL_FILE: join(dir, 'none'), PASSWORD: 'password' }),
    new ConfigError(['URL_FILE names a file that cannot be read (ENOENT)']),
  )
})

t.test('a setting that is no secret is not read from a file', async (t) => {
  const dir = t.testdir()
  writeFileSync(join(dir, 'port'), '443')
  const env = { PORT_FILE: join(dir, 'port'), URL: 'http://host', PASSWORD: 'password' }
  t.equal(loadConfig(schema, env).PORT, 80)
})
