// Runs the programs of the images, from the folders that check-images.sh made. Only Redis,
// ClickHouse and S3 are started by code of this checkout. Checks that setup creates the tables,
// that a log and a feedback with an image become rows in ClickHouse, that the image gets a
// thumbnail, that the daily commands and the health check succeed, and that SIGTERM ends each
// process with code 0. Usage: node test/deploy/smoke-images.mjs FOLDER
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClickHouse } from '@intake/clickhouse'
import {
  pickPort,
  randomSecret,
  startClickHouse,
  startReadyChild,
  startRedis,
  startS3,
} from '@intake/local'

const run = promisify(execFile)
const folder = resolve(process.argv[2] ?? '')
const dataDir = await mkdtemp(join(tmpdir(), 'intake-smoke-'))
/** The started processes. At the end they are stopped in reverse order. */
const running = []
const key = randomSecret()

try {
  const [redis, clickhouse, s3] = await Promise.all([
    own(startRedis({ dataDir: join(dataDir, 'redis'), port: 0 })),
    own(startClickHouse({ dataDir: join(dataDir, 'clickhouse'), port: 0 })),
    own(startS3({ dataDir: join(dataDir, 's3'), port: 0 })),
  ])
  const services = { REDIS_URL: redis.url, S3_ENDPOINT: s3.url }
  const owner = { ...services, CLICKHOUSE_URL: clickhouse.url }
  const intake = (...args) =>
    run(fileURLToPath(new URL('../../deploy/intake', import.meta.url)), args, {
      cwd: join(folder, 'cli'),
      env: {
        PATH: process.env.PATH,
        INTAKE_APP: join(folder, 'cli'),
        INTAKE_API_KEY: key,
        ...owner,
      },
      timeout: 120_000,
    })

  await intake('setup')
  console.log('cli: the tables, the bucket and an API key exist')
  const port = await pickPort()
  const gateway = await startProgram('gateway', { ...services, PORT: String(port) })
  const worker = await startProgram('worker', {
    ...services,
    CLICKHOUSE_URL: clickhouse.workerUrl,
  })
  const page = await startProgram('console', {
    ...services,
    CLICKHOUSE_URL: clickhouse.workerUrl,
    PAGE_CLICKHOUSE_URL: clickhouse.readerUrl,
  })
  console.log('gateway, worker, console: live, as the health check of the container sees it')

  const { log, feedback } = await send(`http://127.0.0.1:${port}`)
  const reader = createClickHouse({ url: clickhouse.url })
  const untilRow = (table, { id }, condition) =>
    untilOne(() =>
      reader.query(`SELECT id FROM intake.${table} WHERE id = '${id}' AND ${condition}`),
    )
  try {
    await untilRow('logs', log, "event = 'smoke'")
    await untilRow('feedback', feedback, 'length(attachments) = 1')
    await untilRow('feedback', feedback, "attachments[1].thumbnail_key != ''")
  } finally {
    await reader.close()
  }
  console.log('a log, and a feedback with an image, went through gateway, queue and worker')
  const status = await fetch(`http://127.0.0.1:${page.adminPort}/status`, {
    signal: AbortSignal.timeout(20_000),
  })
  const { picture_decoder: decoder } = await status.json()
  // Anything else than a lack of the system's means that the image lacks a file.
  assert.match(decoder, /^(?:confined|not confined: (?:it has no Landlock|its processor is) .*)$/)
  console.log(`console: the image has a thumbnail; its decoder is ${decoder}`)

  await intake('retention', 'apply')
  await intake('erasures', 'apply')
  console.log('cli: the daily commands succeed')
  for (const { name, stop, exited } of [gateway, worker, page]) {
    await stop(60_000)
    assert.equal((await exited).code, 0, name)
  }
  console.log('gateway, worker, console: end with code 0')
} finally {
  for (const process of running.toReversed()) await process.stop()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
}

async function own(starting) {
  const process = await starting
  running.push(process)
  return process
}

/** Starts a program. Its environment contains only `settings`, its port, `PATH` and `NODE_ENV`. */
async function startProgram(name, settings) {
  const adminPort = await pickPort()
  const port = { [`${name.toUpperCase()}_ADMIN_PORT`]: String(adminPort) }
  const child = await own(
    startReadyChild({
      name,
      command: process.execPath,
      args: [`${name}/dist/main.js`],
      cwd: join(folder, name),
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ...settings, ...port },
      logFile: join(dataDir, `${name}.log`),
      readyMs: 120_000,
      probe: () => isHealthy(name, port),
    }),
  )
  return { ...child, adminPort }
}

async function isHealthy(image, env) {
  const check = run(process.execPath, ['health-check.mjs'], {
    cwd: join(folder, image),
    env: { PATH: process.env.PATH, ...env },
    timeout: 20_000,
  })
  return check.then(
    () => true,
    () => false,
  )
}

async function send(gateway) {
  const record = {
    bundle_identifier: 'com.example.app',
    device: { os: 'Android' },
    device_uuid: 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10',
    unique_user_id: 'user-1',
  }
  const form = new FormData()
  const text = { email: 'user@example.com', text: 'It broke.' }
  form.set('payload', JSON.stringify({ ...record, feedback: text }))
  const picture = new URL('../../tools/local/examples/screenshot.png', import.meta.url)
  form.set('attachments', new Blob([await readFile(picture)]), 'screenshot.png')
  return {
    log: await post(`${gateway}/api/log`, JSON.stringify({ ...record, log: { event: 'smoke' } }), {
      'content-type': 'application/json',
    }),
    feedback: await post(`${gateway}/api/feedback`, form),
  }
}

/**
 * Sends a request. While the gateway responds with 503, repeats the request, as a client should.
 */
async function post(url, body, headers = {}) {
  const deadline = Date.now() + 120_000
  for (;;) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'x-api-key': key, ...headers },
      body,
      signal: AbortSignal.timeout(60_000),
    })
    const answer = await response.json()
    if (response.status === 201) return answer
    assert.ok(response.status === 503 && Date.now() < deadline, JSON.stringify(answer))
    await pause(500)
  }
}

async function untilOne(query) {
  const deadline = Date.now() + 120_000
  for (;;) {
    const [row] = await query()
    if (row) return row
    assert.ok(Date.now() < deadline, 'the row is not there after two minutes')
    await pause(200)
  }
}
