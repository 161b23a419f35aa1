import { readFileSync } from 'node:fs'
import t from 'tap'

import { usersConfig } from '../../src/engines/clickhouse-config.ts'

const fileOf = (path: string) =>
  readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
const passwords = { intake: 'secret-1', worker: 'secret-2', reader: 'secret-3' }
const config = usersConfig({ ...passwords, analyst: 'secret-4' })

t.test('the users have hashes of their passwords, and come from loopback only', (t) => {
  t.equal(config.match(/<password_sha256_hex>[\da-f]{64}</g)?.length, 4)
  t.same(new Set(config.match(/<ip>.*?</g)), new Set(['<ip>127.0.0.1<']))
  t.notMatch(config, 'secret')
  const without = usersConfig({ ...passwords, analyst: undefined })
  t.equal(without.match(/<password_sha256_hex>[\da-f]{64}</g)?.length, 3)
  t.match(without, /<profile>reader</)
  t.notMatch(without, /<profile>analyst<\/profile>\s*<quota>/)
  t.end()
})

t.test('an edit of the deployed users never opens the engine', (t) => {
  const deployed = fileOf('deploy/clickhouse/users.xml')
  const other = '<o><password_sha256_hex from_env="CLICKHOUSE_O_PASSWORD_SHA256"/></o>'
  const edits = {
    'another user': ['</users>', `${other}</users>`],
    'another address': ['<ip>::/0</ip>', '<ip>0.0.0.0/0</ip>'],
    'a name of hosts': ['<ip>::/0</ip>', '<host_regexp>.*</host_regexp>'],
    'a password of another kind': [
      '<password_sha256_hex from_env="CLICKHOUSE_READER_PASSWORD_SHA256"/>',
      '<password from_env="CLICKHOUSE_READER_PASSWORD"/>',
    ],
    'a user default': ['<default remove="remove"/>', '<default><no_password/></default>'],
    'other rights of intake': ['GRANT ALL ON intake.*', 'GRANT ALL ON *.*'],
    'a second list of constraints': ['</constraints>', '</constraints><constraints/><constraints>'],
    'a value from elsewhere': ['<final>1</final>', '<final incl="final"/>'],
  } as const
  for (const [name, [found, replacement]] of Object.entries(edits)) {
    const edited = deployed.replace(found, replacement)
    t.not(edited, deployed, name)
    t.throws(() => usersConfig({ ...passwords, analyst: 'x' }, edited), /users\.xml has/, name)
  }
  t.end()
})

t.test('the SQL for servers without users.xml has every constraint', (t) => {
  const [, constraints = ''] = /<constraints>([^]*)<\/constraints>/.exec(config) ?? []
  const names = Array.from(
    constraints.matchAll(/<(\w+)>(?:<const|<max|<min)/g),
    ([, name = '']) => name,
  )
  t.ok(names.length > 80, `${names.length} constraints`)
  const sql = fileOf('docs/deploy/clickhouse.md')
  for (const name of names) t.match(sql, new RegExp(`\\b${name}\\s[^,]*(CONST|MAX)`), name)
  t.end()
})
