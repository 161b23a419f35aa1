import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

import { claimDataFormat } from '../../src/stack/data-format.ts'

const refusal = (dataDir: string) => ({
  name: 'StartError',
  message:
    `The data in ${dataDir} was written by another version of Intake and cannot be used by this one: ` +
    'move that folder away or delete it, or set INTAKE_DATA_DIR to another folder.',
})

t.test('an empty data directory gets the format and is later accepted with data', async (t) => {
  const dataDir = t.testdir()
  claimDataFormat(dataDir)
  t.same(JSON.parse(readFileSync(join(dataDir, 'format.json'), 'utf8')), { format: 3 })
  mkdirSync(join(dataDir, 'redis'))
  claimDataFormat(dataDir)
})

const withoutFormat = (dataDir: string) => ({
  name: 'StartError',
  message:
    `The folder ${dataDir} has data but no format.json, so the version that wrote it is unknown: if you ` +
    'restored the data of this version, restore this file too ({"format":3}); otherwise ' +
    'move that folder away or delete it, or set INTAKE_DATA_DIR to another folder.',
})

t.test('data without a format, perhaps restored by hand, is refused in one sentence', async (t) => {
  for (const name of ['redis', 'clickhouse', 's3']) {
    const dataDir = t.testdir({ 'secrets.json': '{}', [name]: {} })
    t.throws(() => claimDataFormat(dataDir), withoutFormat(dataDir))
    t.throws(
      () => claimDataFormat(dataDir),
      withoutFormat(dataDir),
      'the first attempt has not written the format',
    )
  }
})

t.test('another or an unreadable format is refused', async (t) => {
  for (const text of ['{"format":1}', '{"format":2}', '{"format":4}', '', 'null', '[]']) {
    const dataDir = t.testdir()
    writeFileSync(join(dataDir, 'format.json'), text)
    t.throws(() => claimDataFormat(dataDir), refusal(dataDir), text)
  }
})
