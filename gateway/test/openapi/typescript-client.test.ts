import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { createClient } from '@intake/test-kit/openapi-ts'
import { secret } from '../support.ts'
import { checkCalls, startCallees, type CallResults } from './four-calls.ts'
import { quickStartBlocks } from './quick-start.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

const compilerOptions = {
  module: 'preserve',
  moduleResolution: 'bundler',
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: true,
}

/** The code of an app that uses the generated client. */
const calls = `
import { createFeedback, createLog, createLogBatch, type FeedbackPayload } from './intake'
import { client } from './intake/client.gen'

export async function makeCalls(options: {
  url: string
  unlistedUrl: string
  apiKey: string
  image: Uint8Array<ArrayBuffer>
}) {
  client.setConfig({ baseUrl: options.url, auth: options.apiKey, throwOnError: true })
  const sender: Omit<FeedbackPayload, 'feedback'> = {
    bundle_identifier: 'com.example.app',
    device: {
      os: 'Android',
      battery_level: 81.5,
      is_emulator: false,
      supported_abis: ['arm64-v8a'],
      version_code: 4_200_000_000,
    },
    device_uuid: 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10',
    unique_user_id: 'user-1',
  }
  const params = { screen: 'home', items: 3, ratio: 0.5, nested: { list: [1, 'a', true] } }
  const log = await createLog({
    throwOnError: true,
    body: { ...sender, log: { event: 'screen_view', params } },
  })
  const logs = [{ event: 'first', timestamp: '2026-11-21T07:30:00.250+01:00' }, { event: '' }]
  const batch = await createLogBatch({ throwOnError: true, body: { ...sender, logs } })
  const unlisted = await createLogBatch({
    throwOnError: true,
    baseUrl: options.unlistedUrl,
    body: { ...sender, logs },
  })
  const feedback = await createFeedback({
    throwOnError: true,
    headers: { Prefer: 'handling=lenient' },
    body: {
      payload: { ...sender, feedback: { text: 'It broke.', email: 'user@example.com' } },
      attachments: [new File([options.image], 'screenshot.png', { type: 'image/png' })],
    },
  })
  return {
    log: log.data,
    batch: batch.data.results,
    unlisted: unlisted.data.results,
    feedback: feedback.data,
  }
}

export async function readRefusal() {
  const refused = await createLog({
    auth: 'a-wrong-key',
    throwOnError: false,
    body: {
      bundle_identifier: 'com.example.app',
      device: {},
      device_uuid: 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10',
      unique_user_id: 'user-1',
      log: { event: 'a' },
    },
  })
  const code: string | undefined = refused.error?.code
  return { status: refused.response?.status, code }
}
`

interface Calls {
  makeCalls(options: object): Promise<CallResults>
  readRefusal(): Promise<object>
}

t.test('the quick start generates with the versions of this test', (t) => {
  const path = join(root, 'test/kit/package.json')
  const { dependencies } = JSON.parse(readFileSync(path, 'utf8')) as {
    dependencies: Record<'@hey-api/openapi-ts' | 'typescript', string>
  }
  const commands = quickStartBlocks('sh', /openapi-ts/).join('\n')
  const [major] = dependencies.typescript.split('.')
  const versions = `-p typescript@${major} -p @hey-api/openapi-ts@${dependencies['@hey-api/openapi-ts']} `
  t.ok(commands.includes(versions), commands)
  t.end()
})

t.test('a generated TypeScript client compiles, and reads and sends everything', async (t) => {
  const callees = await startCallees(t)
  const { gateway, url } = callees
  const dir = createDataDir(t)
  const write = (name: string, content: string) => writeFileSync(join(dir, name), content)
  write('package.json', JSON.stringify({ type: 'module' }))
  write('tsconfig.json', JSON.stringify({ compilerOptions }))
  write('calls.ts', calls)
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  const document = await fetch(`${url}/openapi.json`)
  write('openapi.json', await document.text())
  await createClient({
    input: join(dir, 'openapi.json'),
    output: { path: join(dir, 'intake'), tsConfigPath: join(dir, 'tsconfig.json') },
    logs: { level: 'silent', file: false },
  })
  const [block] = quickStartBlocks('ts', /createLog/)
  t.type(block, 'string')
  write('quick-start.ts', `${block}\nexport {}\n`)

  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const errors = await run(process.execPath, [compiler, '-p', dir]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
  t.equal(errors, '', 'it compiles')

  const { makeCalls, readRefusal } = (await import(
    pathToFileURL(join(dir, 'calls.ts')).href
  )) as Calls
  const { unlistedUrl, image } = callees
  const results = await makeCalls({
    url,
    unlistedUrl,
    apiKey: secret,
    image: new Uint8Array(image),
  })
  checkCalls(t, gateway, results)
  t.match(await readRefusal(), { status: 401, code: 'unauthorized' })
})
