import { readFileSync } from 'node:fs'
import t from 'tap'
import { loadSecrets } from '../../src/stack/secrets.ts'

t.test('secrets that are damaged end the start, and are not replaced', async (t) => {
  for (const content of [
    '',
    'garbage',
    '{"apiKey":',
    'null',
    '[]',
    '7',
    '{"apiKey":7}',
    '{"apiKey":""}',
  ]) {
    const dataDir = t.testdir({ 'secrets.json': content })
    t.throws(() => loadSecrets(dataDir), /cannot be read: restore or delete that file/, content)
    t.equal(readFileSync(`${dataDir}/secrets.json`, 'utf8'), content)
  }
})

t.test('secrets of a later version are kept', async (t) => {
  const later = { apiKey: 'ik_of-this-installation', laterPassword: 'kept' }
  const dataDir = t.testdir({ 'secrets.json': JSON.stringify(later) })
  t.match(loadSecrets(dataDir), later)
  t.match(JSON.parse(readFileSync(`${dataDir}/secrets.json`, 'utf8')), later)
})
