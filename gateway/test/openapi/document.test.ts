import { createConfig, lintFromString } from '@redocly/openapi-core'
import t from 'tap'
import type { TSchema } from 'typebox'
import { IntakeError } from '@intake/contract'
import { compileSchema } from '@intake/contract/schemas'
import { operationOf } from '../../src/report/operation.ts'
import { batch, copies } from '../batches.ts'
import { file, payload, send, type Part, lenient } from '../forms.ts'
import { images, logBody, post, sendLog, startGateway, type TestGateway } from '../support.ts'
import { closedSchema, findProblems } from './generator-rules.ts'

interface Operation {
  parameters: { $ref: string }[]
  requestBody: { content: Record<string, { example: object }> }
  responses: Record<string, { content: Record<string, { example: object }> }>
}
type Document = Record<string, unknown> & {
  servers: object[]
  paths: Record<string, { post: Operation }>
  components: { schemas: object; responses: Record<string, { headers: object }> }
}

const read = async ({ app }: TestGateway) => (await app.inject('/openapi.json')).json<Document>()

t.test('the document has no fault that Redocly knows, not even a warning', async (t) => {
  const source = JSON.stringify(await read(await startGateway(t)))
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source, config })
  t.same(
    problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    [],
  )
})

t.test('the document has nothing that generated clients break on', async (t) => {
  t.same(findProblems(await read(await startGateway(t))), [])
})

t.test('what generated clients break on is found, in requests and responses', async (t) => {
  const document = await read(await startGateway(t))
  const planted = (schemas: object) =>
    findProblems({
      ...document,
      components: {
        ...document.components,
        schemas: { ...document.components.schemas, ...schemas },
      },
    })
  const text = { type: 'string' }
  const object = (property: object) => ({ type: 'object', properties: { property } })
  for (const [schema, problem] of [
    [object({ ...text, enum: ['a'] }), 'enum'],
    [object({ ...text, const: 'a' }), 'const'],
    [object({ type: 'integer' }), 'a number without a format'],
    [object({ type: 'array', items: { type: 'number' } }), 'a number without a format'],
    [{ ...object(text), additionalProperties: true }, 'additionalProperties beside properties'],
    [{ type: 'object', oneOf: [object(text)] }, 'oneOf'],
    [{ type: 'object', anyOf: [object(text)] }, 'anyOf'],
    [object({ type: ['string', 'null'] }), 'type ["string","null"]'],
  ] as const) {
    for (const name of ['LogEntryResult', 'Problem', 'AttachmentResult']) {
      t.match(planted({ [name]: schema }).join('\n'), problem, `${problem} in ${name}`)
    }
  }
  t.match(planted({ Device: object({ type: 'integer' }) }), [/a number without a format/])
  t.same(planted({ Device: object({ ...text, enum: ['a'] }) }), [], 'a request may have an enum')
})

t.test('the document describes every route of the API, and no other', async (t) => {
  const gateway = await startGateway(t)
  const { paths } = await read(gateway)
  const routes = gateway.app.printRoutes({ commonPrefix: false, method: 'POST' })
  t.equal([...routes.matchAll(/\(POST\)/g)].length, Object.keys(paths).length)
  for (const url of Object.keys(paths)) t.ok(gateway.app.hasRoute({ method: 'POST', url }), url)
})

t.test('the document names the address and the limits of this gateway', async (t) => {
  const preset = await read(await startGateway(t))
  t.same(preset.servers, [{ url: 'http://127.0.0.1:3000' }])
  const env = { PUBLIC_URL: 'https://example.com/i', BATCH_BODY_BYTES_MAX: '54321' }
  const own = await read(await startGateway(t, { env }))
  t.same(own.servers, [{ url: 'https://example.com/i' }])
  t.match(JSON.stringify(own.paths['/api/log/batch']), '54321 bytes as sent')
})

t.test('a status with Retry-After has it in the document', async (t) => {
  const { components } = await read(await startGateway(t))
  const retryable = Object.entries(components.responses)
    .filter(([, response]) => 'Retry-After' in response.headers)
    .map(([name]) => name)
  t.same(retryable, ['Error403', 'Error408', 'Error429', 'Error503', 'Error503Feedback'])
})

t.test('the document has the headers of requests and responses', async (t) => {
  const { paths, components } = await read(await startGateway(t))
  const sent = Object.values(paths).map(({ post: { parameters } }) =>
    parameters.map(({ $ref }) => $ref.split('/').at(-1)),
  )
  t.same(sent, [['IdempotencyKey'], ['IdempotencyKey'], ['IdempotencyKey', 'Prefer']])
  const unlimited = Object.entries(components.responses)
    .filter(([, { headers: received }]) => !('RateLimit-Remaining' in received))
    .map(([name]) => name)
  t.same(unlimited, ['Error401', 'Error417', 'Error431', 'ErrorOther'])
})

t.test('a request that is refused before the limit of its key gets no headers of it', async (t) => {
  const cases: [code: string, Parameters<typeof startGateway>[1], Record<string, string>?][] = [
    ['unauthorized', {}, { 'x-api-key': 'a-wrong-key' }],
    ['key_suspended', { key: { suspendedAt: '2026-01-01T00:00:00.000Z' } }],
    ['origin_not_allowed', { key: { origins: ['https://example.com'] } }],
    ['queue_unavailable', { keysLoaded: false }],
    ['queue_full', { queueState: { memoryUsed: 1 } }],
  ]
  for (const [code, options, more] of cases) {
    const response = await sendLog(await startGateway(t, options), logBody(), more)
    t.equal(response.json().code, code)
    t.equal('ratelimit-limit' in response.headers, code === 'queue_full', code)
  }
})

t.test('the gateway accepts each example request and responds with the example', async (t) => {
  const gateway = await startGateway(t)
  const examples = Object.entries((await read(gateway)).paths)
  t.equal(examples.length, 3)
  let counted = 0
  for (const [path, { post: operation }] of examples) {
    const [[type, { example }] = ['', { example: {} }]] = Object.entries(
      operation.requestBody.content,
    )
    const isJson = type === 'application/json'
    const response = isJson
      ? await post(gateway, path, example)
      : await sendExample(gateway, example)
    const documented = operation.responses[response.statusCode]?.content['application/json']
    const masked = (text: string) =>
      text
        .replaceAll(/"id":"[\da-f-]{36}"/g, '"id":"-"')
        .replaceAll(/"server_time":"[\dTZ.:-]{24}"/g, '"server_time":"-"')
    t.equal(masked(response.body), masked(JSON.stringify(documented?.example)), path)
    t.not(operationOf(path), 'other', `${path} has a name in the metrics`)
    const before = counted
    counted = gateway.outcomes.unreported().reduce((sum, { records }) => sum + records, 0)
    t.ok(counted > before, `${path} counts its outcome`)
  }
})

/** Sends an example as a form: each of its members is one part. */
async function sendExample(gateway: TestGateway, example: object) {
  const parts = Object.entries(example).map(([name, json]): Part => [name, JSON.stringify(json)])
  const { status, body } = await send(gateway, parts)
  return { statusCode: status, body: JSON.stringify(body) }
}

t.test('every field of every kind of response is documented', async (t) => {
  const gateway = await startGateway(t)
  const document = await read(gateway)
  const check = (operation: string, status: number, body: unknown, name: string) => {
    const schema = closedSchema(document, `post ${operation}`, status) as TSchema
    try {
      compileSchema(schema)(body)
      t.pass(name)
    } catch (error) {
      t.fail(`${name}: ${JSON.stringify((error as IntakeError).errors)}`, { body })
    }
  }
  type Sent = [status: number, body: object | string, more?: Record<string, string>]
  const checkLogs = async (from: TestGateway, sent: Sent[], url = '/api/log') => {
    const bodies: unknown[] = []
    for (const [status, body, more] of sent) {
      const response = await post(from, url, body, more)
      t.equal(response.statusCode, status, `${status} from ${url}`)
      check(url, status, response.json(), `${status} from ${url}`)
      bodies.push(response.json())
    }
    return bodies
  }

  const expired = '01700000-0000-7000-8000-000000000000'
  const [late] = await checkLogs(gateway, [
    [422, logBody({ id: expired })],
    [201, logBody()],
    [400, '{'],
    [400, logBody({ event: 7 })],
    [401, logBody(), { 'x-api-key': 'a-wrong-key' }],
    [413, `"${'a'.repeat(2_000_000)}"`],
    [415, 'a=b', { 'content-type': 'text/plain' }],
  ])
  t.match(late, { server_time: String })
  const twice = ['a', 'b'].map((event) => ({ id: '6f9619ff-8b86-4d01-b42d-00c04fc964ff', event }))
  const logs = [{ event: 'a' }, { event: '' }, { id: expired, event: 'old' }, ...twice]
  const entries = [...logs, ...copies(12, {})]
  const [mixed] = await checkLogs(gateway, [[207, batch(entries)]], '/api/log/batch')
  t.match(mixed, { accepted: 2, rejected: 15 })
  const { results } = mixed as { results: { detail?: string }[] }
  t.equal(results.at(-1)?.detail, undefined, 'not all of them are explained')

  const limited = await startGateway(t, {
    env: { RATE_LIMIT_MAX: '1' },
    key: { bundleIdentifiers: ['com.example.other'] },
  })
  await checkLogs(limited, [
    [403, logBody()],
    [429, logBody()],
  ])
  const failing = await startGateway(t)
  failing.fail.enqueue = new IntakeError('queue_unavailable', 'Detail.')
  await checkLogs(failing, [[503, logBody()]])
  failing.fail.enqueue = new Error('not of the catalogue') as IntakeError
  await checkLogs(failing, [[500, logBody()]])

  const text: Part = ['note', 'a'.repeat(1_100_000)]
  const parts = [payload({ email: 'nobody' }), file(images.png), file('text'), text]
  const kept = await send(gateway, parts, lenient)
  t.equal(kept.status, 201)
  t.ok(kept.body.omitted_text_parts && kept.body.invalid_fields, 'everything is in it')
  check('/api/feedback', 201, kept.body, 'a lenient form')
  const refused = await send(gateway, [payload(), file('text')])
  check('/api/feedback', refused.status, refused.body, 'a form with a file that is no image')
})
