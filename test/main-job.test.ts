import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { deviceFields } from '@intake/contract'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startOtlpCollector, type CollectedSpan } from '@intake/test-kit/otlp-collector'
import { postLog } from '@intake/test-kit/post'
import { startStack, type RunningStack } from '@intake/test-kit/running-stack'
import { lowest } from '@intake/test-kit/lowest'
import { s3Client } from '@intake/test-kit/s3-client'
import { startStopwatch } from '@intake/test-kit/stopwatch'
import { until } from '@intake/test-kit/until'
import { startWebhookReceiver } from '@intake/test-kit/webhook-receiver'

const run = promisify(execFile)
const imagesDir = new URL('images/', import.meta.url)
const imageNames = ['photo.jpg', 'screenshot.png', 'steps.gif', 'crash.webp']

const device = {
  os: 'Android',
  device_brand: 'google',
  device_model: 'Pixel 8',
  android_version: '15',
  battery_level: 81.25,
  battery_state: 'charging',
  build_board: 'shiba',
  build_bootloader: 'ripcurrent-15.1-12292122',
  build_fingerprint: 'google/shiba/shiba:15/AP4A.250105.002/12701944:user/release-keys',
  build_hardware: 'shiba',
  build_host: 'r-0123456789abcdef-abcd',
  build_security_patch: '2025-01-05',
  build_tags: 'release-keys',
  build_time: '2024-11-27T03:12:45.000Z',
  build_type: 'user',
  build_user: 'android-build',
  build_version_codename: 'REL',
  build_version_incremental: '12701944',
  bundle_name: 'Exämple “App” 😀',
  device: 'shiba',
  first_install_time: '2025-03-01T08:00:00.123Z',
  is_emulator: false,
  last_update_time: '2026-10-31T23:59:59.999Z',
  manufacturer: 'Google',
  product: 'shiba',
  sdk_version: 35,
  supported_abis: ['arm64-v8a', 'armeabi-v7a'],
  version_code: 20_260_101_123,
  version_name: '3.14.1-β',
}
const head = {
  bundle_identifier: 'com.example.app',
  device_uuid: 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10',
  unique_user_id: 'user \'quoted\' "twice" \\ back\nnewline\ttab',
}
const params = {
  screen: 'home',
  date_like: '2024-01-01',
  number_like: '007',
  integer: 9_007_199_254_740_991,
  decimal: 0.1,
  negative: -273.15,
  yes: true,
  no: false,
  list: [1, 2, 3],
  nested: { deeper: { text: 'línea 1\nline 2\u0000😀"\'\\' } },
}

async function post(stack: RunningStack, path: string, body: string | FormData): Promise<Response> {
  return fetch(`${stack.endpoints.gateway}${path}`, {
    method: 'POST',
    headers: {
      'x-api-key': stack.endpoints.apiKey,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    body,
  })
}

const sendTraced = ({ endpoints }: RunningStack, headers: Record<string, string> = {}) =>
  postLog({ url: endpoints.gateway, apiKey: endpoints.apiKey }, { event: 'traced' }, { headers })

interface StoredRow extends Record<string, unknown> {
  params: Record<string, unknown>
  device: Record<string, unknown>
  attachments: { key: string; bytes: number; sha256: string; content_type: string }[]
}

/** Waits until the row with this id exists; fails if there are two. */
async function row(stack: RunningStack, view: string, id: string): Promise<StoredRow> {
  let rows: StoredRow[] = []
  await until(`${id} is visible`, async () => {
    rows = await stack.clickhouse.query<StoredRow>(
      `SELECT * FROM intake.${view} WHERE id = {id:UUID}`,
      { id },
    )
    return rows.length > 0
  })
  if (rows.length > 1) throw new Error(`${rows.length} rows with the id ${id}`)
  return rows[0]!
}

t.test('a stack stores what is sent to it', async (t) => {
  const dataDir = createDataDir(t)
  const receiver = await startWebhookReceiver()
  t.teardown(() => receiver.close())
  const collector = await startOtlpCollector(t)
  const stack = await startStack(t, {
    dataDir,
    env: {
      FEEDBACK_WEBHOOK_URL: receiver.url,
      FEEDBACK_WEBHOOK_SECRET: 'a secret of the test',
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  })

  // The first, so that all spans are of its requests.
  t.test('a trace leads from the request through the frame to the insert', async (t) => {
    const { spans } = collector

    const ofClient = '4bf92f3577b34da6a3ce929d0e0e4736'
    const response = await sendTraced(stack, { traceparent: `00-${ofClient}-00f067aa0ba902b7-01` })
    t.equal(response.status, 201)
    const names = ['POST /api/log', 'enqueue logs', 'INSERT logs']
    // Gateway and worker export independently, so the span of the insert may arrive first.
    const [request, frame, insert] = await until('request, frame and insert are there', () => {
      const found = names.map((name) => spans.find((span) => span.name === name))
      return found.every((span) => span !== undefined) && found
    })
    t.match(request, { service: 'intake-gateway', parentSpanId: '' })
    const { traceId } = request!
    t.not(traceId, ofClient, 'a client does not decide in which trace its request is')
    t.match(frame, { service: 'intake-gateway', parentSpanId: request!.spanId })
    t.match(insert, { service: 'intake-worker', parentSpanId: frame!.spanId })
    t.match(insert!.attributes, { 'db.system.name': 'clickhouse', 'db.operation.batch.size': 1 })
    // The SDK rounds the start down to milliseconds and adds the exact duration, so an end can be up
    // to 1 ms early.
    const cut = 1_000_000n
    t.ok(request!.startedAt <= frame!.startedAt && frame!.endedAt <= request!.endedAt + cut)
    // Compares the starts, because the worker may finish before Redis replies to the gateway.
    t.ok(frame!.startedAt <= insert!.startedAt)

    // A slow gateway may put all requests into one frame, whose span keeps at most 128 links. So the
    // test sends fewer than 128 requests.
    const requests = 100
    const sent = await Promise.all(Array.from({ length: requests }, () => sendTraced(stack)))
    t.ok(sent.every(({ status }) => status === 201))
    const isOther = (name: string) => (span: CollectedSpan) =>
      span.name === name && span.traceId !== traceId
    const idsOf = (span: CollectedSpan) => ({ traceId: span.traceId, spanId: span.spanId })
    const causesOf = (name: string) => spans.filter(isOther(name)).flatMap(({ links }) => links)
    await until('every request leads to an insert', () => {
      const frames = spans.filter(isOther('enqueue logs'))
      const inserted = new Set(causesOf('INSERT logs').map((link) => link.spanId))
      return (
        causesOf('enqueue logs').length === requests &&
        frames.every((one) => inserted.has(one.spanId))
      )
    })
    const frames = spans.filter(isOther('enqueue logs'))
    t.ok(frames.length < requests, `${frames.length} frames`)
    for (const one of spans.filter(isOther('POST /api/log'))) {
      const [link] = one.links
      const its = frames.find((other) => other.spanId === link?.spanId)
      if (its === undefined || !its.links.some((cause) => cause.spanId === one.spanId)) {
        t.match(its?.links, [idsOf(one)])
      }
    }
  })

  t.test('the lines of backup.md for ClickHouse work unchanged', async (t) => {
    const page = await readFile(new URL('../docs/operations/backup.md', import.meta.url), 'utf8')
    const urls = /^eval .*\nCLICKHOUSE_URL=.*$/m.exec(page)?.[0]
    const backup = /^curl .*BACKUP DATABASE.*$/m.exec(page)?.[0]
    const restore = /^curl .*RESTORE TABLE.*$/m.exec(page)?.[0]
    const script = [urls, backup, restore].join('\n')
    const env = {
      ...process.env,
      INTAKE_DATA_DIR: dataDir,
      CLICKHOUSE_PORT: new URL(stack.endpoints.analyst).port,
    }
    const cwd = fileURLToPath(new URL('..', import.meta.url))
    const { stdout } = await run('sh', ['-c', script], { env, cwd })
    t.match(stdout, /BACKUP_CREATED\n.*RESTORED\n/)
    await stack.clickhouse.command('DROP TABLE intake.logs_restored')
  })

  t.test('a log event is one row within 2 s, every field as it was sent', async (t) => {
    const body = {
      ...head,
      device: { ...device, thermal: { level: 2 } },
      log: { event: 'ev', params },
    }
    const { redis, clickhouse, gateway, workers } = stack.endpoints.pids
    let id = ''
    let stored = {} as StoredRow
    const elapsedMs = await lowest(2_000, async () => {
      const response = await post(stack, '/api/log', JSON.stringify(body))
      t.equal(response.status, 201)
      id = ((await response.json()) as { id: string }).id
      const stopwatch = startStopwatch(t, [redis, clickhouse, gateway, ...workers])
      stored = await row(stack, 'logs', id)
      return stopwatch()
    })
    t.ok(elapsedMs < 2_000, 'visible within 2 s')
    t.match(stored, { ...head, id, event: 'ev', device_extra: { thermal: { level: 2 } } })
    t.same(stored.params, params)
    const { build_time, first_install_time, last_update_time, ...plain } = device
    t.match(stored.device, plain)
    const plainTime = (iso: string) => iso.replace('T', ' ').replace('Z', '')
    t.match(stored.device, {
      build_time: plainTime(build_time),
      first_install_time: plainTime(first_install_time),
      last_update_time: plainTime(last_update_time),
    })
    t.equal(Object.keys(stored.device).length, deviceFields.length)
  })

  t.test('a compressed batch: a row per accepted entry, a result for each entry', async (t) => {
    const logs = [
      { event: 'first', params: { n: 1 }, timestamp: '2026-11-20T10:00:00.250Z' },
      { event: 7 },
      { event: 'second', id: randomUUID() },
    ]
    const send = async () => {
      const response = await fetch(`${stack.endpoints.gateway}/api/log/batch`, {
        method: 'POST',
        headers: {
          'x-api-key': stack.endpoints.apiKey,
          'content-type': 'application/json',
          'content-encoding': 'gzip',
        },
        body: gzipSync(JSON.stringify({ ...head, device, logs })),
      })
      t.equal(response.status, 207)
      const { results } = (await response.json()) as {
        results: [{ id: string }, { code: string }, { id: string }]
      }
      return results
    }
    const results = await send()
    t.match(results, [{ status: 'accepted' }, { code: 'invalid_request' }, { status: 'accepted' }])
    t.match(await row(stack, 'logs', results[0].id), {
      ...head,
      event: 'first',
      params: { n: 1 },
      client_timestamp: '2026-11-20 10:00:00.250',
    })
    const again = await send()
    t.equal(again[2].id, results[2].id, 'an entry with an id can be retried')
    await row(stack, 'logs', again[0].id)
    t.match(await row(stack, 'logs', again[2].id), { event: 'second', client_timestamp: null })
  })

  t.test('four images arrive byte for byte, with the sha256 in the row', async (t) => {
    const files = await Promise.all(imageNames.map((name) => readFile(new URL(name, imagesDir))))
    const form = new FormData()
    for (const [index, file] of files.entries()) {
      form.append('attachments', new Blob([file]), imageNames[index])
    }
    const feedback = { email: 'user@example.com', id: randomUUID(), text: 'It “broke” 😀\nagain' }
    form.append('payload', JSON.stringify({ ...head, device, feedback }))
    const response = await post(stack, '/api/feedback', form)
    t.equal(response.status, 201)
    const { id } = (await response.json()) as { id: string }
    const stored = await row(stack, 'feedback', id)
    t.match(stored, {
      ...head,
      feedback_id: feedback.id,
      email: feedback.email,
      text: feedback.text,
    })

    const s3 = s3Client(stack.endpoints.s3)
    t.equal(stored.attachments.length, 4)
    const hasThumbnails = `SELECT 1 FROM intake.feedback WHERE id = {id:UUID}
      AND arrayAll(one -> one.thumbnail_key IS NOT NULL, attachments)`
    await until('its pictures have thumbnails', async () => {
      return (await stack.clickhouse.query(hasThumbnails, { id })).length === 1
    })
    for (const [index, { key, bytes, sha256, content_type }] of stored.attachments.entries()) {
      const object = await buffer(await s3.getObject('intake', key))
      t.ok(object.equals(files[index]!), imageNames[index]!)
      t.equal(bytes, object.length)
      t.equal(sha256, createHash('sha256').update(object).digest('hex'))
      const { metaData } = await s3.statObject('intake', key)
      t.match(metaData, { 'content-type': content_type, sha256 })
    }

    await until('the webhook was called for it', () => receiver.accepted.has(id))
    const { page } = stack.endpoints
    t.ok(
      stack.lines.some((line) => line.includes(`Page         ${page}/`)),
      'the URL of the page is printed',
    )
    const shown = await until(
      'the page shows it, and that it is complete up to a time',
      async () => {
        const html = await (await fetch(`${page}/feedback/${id}`)).text()
        return /complete up to \d[^<]*</.test(html) && html
      },
    )
    t.match(shown, feedback.email)
    const [, picture = ''] = /href="(\/attachments\/[^"]+)"/.exec(shown) ?? []
    const opened = await fetch(page + picture)
    t.match(opened.headers.get('content-security-policy'), 'sandbox')
    t.ok(Buffer.from(await opened.arrayBuffer()).equals(files[0]!), 'and its first picture')
  })
})
