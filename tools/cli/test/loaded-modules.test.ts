import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createIntakeProcess } from './services.ts'

const urls = { REDIS_URL: 'redis://a', CLICKHOUSE_URL: 'http://a', S3_ENDPOINT: 'http://a' }

t.test('commands load only what they use, because hundreds of modules take long', async (t) => {
  for (const args of [['--help'], ['env'], ['keys', '-h'], ['rules', '-h'], ['queue', '-h']]) {
    const NODE_V8_COVERAGE = t.testdir({})
    const intake = createIntakeProcess({
      cwd: NODE_V8_COVERAGE,
      env: { ...urls, NODE_V8_COVERAGE },
    })
    t.match(await intake(args), { code: 0, stderr: '' }, args.join(' '))
    // Each thread of the command has a file, in which V8 lists every module that the thread loaded.
    const files = readdirSync(NODE_V8_COVERAGE).map((file) => join(NODE_V8_COVERAGE, file))
    const text = files.map((file) => readFileSync(file, 'utf8')).join()
    const loaded = new Set(text.match(/(?<=\/node_modules\/)[^./"][^/"]*(?=\/)/g))
    t.ok(loaded.has('commander'))
    for (const large of ['typebox', 'fastify', 'minio', 'prom-client', 'pino'])
      t.notOk(loaded.has(large), `${args.join(' ')}: ${large}`)
  }
})
