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

t.test('each user has one password, loopback, a profile, and rights', (t) => {
  const [, users = ''] = /<users>([^]*)<\/users>/.exec(config) ?? []
  const blocks = [...users.matchAll(/<(\w+)>((?:(?!<\1>)[^])*?)<\/\1>/g)]
  const tagsOf = (block: string) =>
    Array.from(
      block.replaceAll(/<(grants|networks|databases)>[^]*?<\/\1>/g, '<$1/>').matchAll(/<(\w+)/g),
      ([, tag]) => tag,
    )
  const found = Object.fromEntries(blocks.map(([, user, block = '']) => [user, tagsOf(block)]))
  const ofAll = ['password_sha256_hex', 'networks', 'profile', 'quota']
  t.same(found, {
    default: ['no_password', 'networks', 'profile', 'quota', 'grants'],
    intake: [...ofAll, 'access_management'],
    worker: [...ofAll, 'grants'],
    reader: [...ofAll, 'grants'],
    analyst: [...ofAll, 'grants', 'databases'],
  })
  const profiles = blocks.map(([, user, block = '']) => [user, /<profile>(\w+)/.exec(block)?.[1]])
  t.match(Object.fromEntries(profiles), { worker: 'worker', reader: 'reader', analyst: 'analyst' })
  const [, analyst = ''] = /<analyst>([^]*?)<\/analyst>/.exec(config) ?? []
  t.match(analyst, '<readonly>2</readonly>')
  t.end()
})

t.test('an edit of addresses, passwords or users of the deployed server is refused', (t) => {
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
    'another first constraint': ['<final><const/></final>', ''],
    'a value from elsewhere': ['<final>1</final>', '<final incl="final"/>'],
  } as const
  for (const [name, [found, replacement]] of Object.entries(edits)) {
    const edited = deployed.replace(found, replacement)
    t.not(edited, deployed, name)
    t.throws(
      () => usersConfig({ ...passwords, analyst: 'x' }, { deployed: edited }),
      /users\.xml has/,
      name,
    )
  }
  t.end()
})

t.test('the SQL for servers without users.xml has the same constraints', (t) => {
  const [, constraints = ''] = /<constraints>([^]*?)<\/constraints>/.exec(config) ?? []
  const inXml = Array.from(
    constraints.matchAll(/<(\w+)>\s*(?=<(?:const|max|min)\b)/g),
    ([, name = '']) => name,
  )
  const sql = fileOf('deploy/clickhouse/users.sql')
  const [, profile = ''] = /CREATE SETTINGS PROFILE analyst SETTINGS ([^;]*);/.exec(sql) ?? []
  const [, user = ''] = /CREATE USER analyst .* SETTINGS PROFILE analyst,([^;]*);/.exec(sql) ?? []
  const inSql = `${profile},${user}`
    .split(/,\s*/)
    .map((setting) => setting.replaceAll(/\s+/g, ' ').trim())
    .filter((setting) => / (CONST|MAX)\b/.test(setting))
    .map((setting) => setting.split(' ')[0] ?? '')
  t.same(inSql.toSorted(), inXml.toSorted())
  t.end()
})
