import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { timeOfUuidV7 } from '@intake/contract'
import { isUuidV7 } from '@intake/identity'
import { createDataDir } from '@intake/test-kit/data-dir'
import { secret } from '../support.ts'
import { startCallees } from './four-calls.ts'
import { aimed, quickStartBlocks } from './quick-start.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

t.test('201: the curl lines of the quick start work as they are', async (t) => {
  const { gateway, url, image } = await startCallees(t)
  const cwd = createDataDir(t)
  writeFileSync(join(cwd, 'screenshot.png'), image)
  const blocks = quickStartBlocks('sh', /^curl /)
  t.equal(blocks.length, 2)
  for (const block of blocks) {
    const env = { ...process.env, KEY: secret }
    const script = aimed(block, { url, apiKey: secret })
    const { stdout } = await run('sh', ['-ec', script], { cwd, env })
    t.match(JSON.parse(stdout), { message: / successfully created$/, id: String })
  }
  t.equal(gateway.rows('logs').length, 1)
  t.equal(gateway.rows('feedback').length, 1)
  t.equal(gateway.objects.size, 1)
})

t.test('the ids of the quick start are UUIDv7 of now, in ascending order', async (t) => {
  const [block = ''] = quickStartBlocks('ts', /fetch\(/)
  const [source = ''] = /^let last[^]*?^}$/m.exec(block) ?? []
  const file = join(createDataDir(t), 'ids.mts')
  const print = 'console.log(JSON.stringify(Array.from({ length: 1_000 }, uuidv7)))'
  writeFileSync(file, `${source}\n${print}`)
  const before = Date.now()
  const { stdout } = await run(process.execPath, ['--import', 'tsx', file], { cwd: root })
  const ids = JSON.parse(stdout) as string[]
  t.ok(ids.every(isUuidV7))
  t.same(ids, [...new Set(ids)].toSorted())
  const ages = ids.map((id) => timeOfUuidV7(id) - before)
  t.ok(Math.min(...ages) >= 0 && Math.max(...ages) <= Date.now() - before)
})

t.test('207 and 201: the TypeScript of the quick start works as it is', async (t) => {
  const { gateway, url } = await startCallees(t)
  const [block = ''] = quickStartBlocks('ts', /fetch\(/)
  const file = join(createDataDir(t), 'quick-start.mts')
  writeFileSync(file, aimed(block, { url, apiKey: secret }))
  const { stdout } = await run(process.execPath, ['--import', 'tsx', file], { cwd: root })
  t.match(stdout, /^207 [^]*accepted[^]*^201 /m)
  t.match(gateway.rows('logs'), [{ event: 'screen_view', params: { screen: 'home' } }])
  t.match(gateway.rows('feedback'), [{ text: 'It broke.' }])
})
