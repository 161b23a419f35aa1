import { readFileSync } from 'node:fs'
import t from 'tap'
import { limits } from '@intake/contract'
import { createSandbox } from '@intake/sandbox'
import { parse } from 'yaml'
import { uuidV7 } from '../packages/schema/test/fixture.ts'

interface Component {
  type: string
  inputs?: string[]
}

interface VectorConfig {
  sources: Record<string, Component>
  transforms: Record<string, Component & { source: string }>
  sinks: {
    intake: Component & {
      uri: string
      payload_prefix: string
      payload_suffix: string
      batch: { max_events: number; max_bytes: number }
      buffer: { type: string; when_full: string }
    }
  }
}

const config = parse(
  readFileSync(new URL('../deploy/vector.yaml', import.meta.url), 'utf8'),
) as VectorConfig

t.test('every input of the configuration for Vector exists', async (t) => {
  const names = new Set([...Object.keys(config.sources), ...Object.keys(config.transforms)])
  for (const { inputs = [] } of [...Object.values(config.transforms), config.sinks.intake]) {
    t.ok(inputs.length > 0)
    // A source may have named outputs, such as `otlp.logs`.
    for (const input of inputs) t.ok(names.has(input.split('.')[0] ?? ''), input)
  }
})

const source = config.transforms['entries']?.source ?? ''

t.test('ids are made before the buffer, which is on disk and loses nothing', async (t) => {
  t.match(source, /uuid_v7\(\)/)
  t.match(source, /"id": id,/)
  t.match(config.sinks.intake.buffer, { type: 'disk', when_full: 'block' })
  t.ok(config.sinks.intake.batch.max_events <= 500)
})

t.test('the transform keeps what Intake limits: future times, empty and long names', async (t) => {
  t.match(source, /if happened > now\(\) \{ happened = now\(\) \}/)
  t.match(source, /if event == "" \{ event = "log" \}/)
  t.match(source, `event = truncate(event, limit: ${limits.identifierLength})`)
  // VRL does not compile a `!` after a function that cannot fail. No function can fail on the
  // object `.`. So `!(.)` must not occur.
  t.notMatch(source, /\w+!\(\.\)/)
  // Vector replaces `$name` by an environment variable everywhere, even in a VRL program.
  t.notMatch(source, /\$/)
})

t.test('207: the gateway accepts a batch as the sink builds it, also twice', async (t) => {
  const sandbox = await createSandbox()
  t.teardown(() => sandbox.close())
  const { payload_prefix, payload_suffix } = config.sinks.intake
  const entries = ['one', 'two'].map((message) => {
    const timestamp = new Date().toISOString()
    return {
      id: uuidV7(timestamp),
      // VRL prints nanoseconds.
      timestamp: timestamp.replace('Z', '123456+00:00'),
      event: 'x'.repeat(limits.identifierLength),
      params: { message, file: '/var/log/app/a.log', source_type: 'file' },
    }
  })
  const body =
    payload_prefix.replace('${DEVICE_UUID}', 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10') +
    JSON.stringify(entries) +
    payload_suffix
  for (let attempt = 0; attempt < 2; attempt++) {
    const response = await fetch(`${sandbox.url}/api/log/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': sandbox.apiKey },
      body,
    })
    t.equal(response.status, 207)
    t.match(await response.json(), {
      accepted: 2,
      rejected: 0,
      results: entries.map(({ id }) => ({ status: 'accepted', id })),
    })
  }
})
