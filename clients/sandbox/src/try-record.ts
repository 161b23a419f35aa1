import { randomUUID } from 'node:crypto'
import type { GatewayPorts } from '@intake/gateway'
import { createLogger } from '@intake/runtime/process'
import { buildMemoryGateway } from './memory-gateway.ts'
import { createMemoryIdempotencyStore, createMemoryPorts } from './memory-ports.ts'
import { createRecordStore } from './record-store.ts'

/** The response to a submission, and what the gateway stored. */
export interface Tried {
  status: number
  /** The code of the error response; undefined if the submission is accepted. */
  code: string | undefined
  /** How many records had each outcome. */
  counts: Record<string, number>
  /** Each stored record as JSON text, as the sandbox shows it. Integers keep all digits. */
  records: string[]
}

const apiKey = 'ik_try'

/**
 * Sends one submission to a gateway in memory.
 *
 * @param options.json a body of `/api/log`, of `/api/log/batch`, or the payload of `/api/feedback`
 * @param options.rules the operator's rules; each counts the records that it matches
 */
export async function tryRecord(options: {
  json: string
  rules: ReturnType<GatewayPorts['policy']['rules']>
  apiKeyId?: string
}): Promise<Tried> {
  const { json, rules, apiKeyId } = options
  const records = createRecordStore()
  const counts: Record<string, number> = {}
  const app = await buildMemoryGateway({
    ports: createMemoryPorts({
      apiKey,
      records,
      idempotency: createMemoryIdempotencyStore(),
      rules,
      ...(apiKeyId !== undefined && { apiKeyId }),
    }),
    bytes: records.bytes,
    now: () => Date.now(),
    wrapHandler: (serve) => serve,
    log: createLogger({ name: 'sandbox', level: 'silent' }),
    countOutcome({ code, records: count }) {
      counts[code] = (counts[code] ?? 0) + count
    },
  })
  try {
    const { url, payload, headers } = requestOf(json)
    const response = await app.inject({
      method: 'POST',
      url,
      payload,
      headers: { 'x-api-key': apiKey, ...headers },
    })
    const { code } = response.json<{ code?: string }>()
    return { status: response.statusCode, code, counts, records: [...records.list()] }
  } finally {
    await app.close()
  }
}

function requestOf(json: string) {
  // Only the names of the fields are used here. The gateway parses the text itself, and keeps all
  // digits of integers.
  const body = Object(JSON.parse(json)) as object
  if (!('feedback' in body)) {
    const url = 'logs' in body ? '/api/log/batch' : '/api/log'
    return { url, payload: json, headers: { 'content-type': 'application/json' } }
  }
  const boundary = randomUUID()
  const part = 'content-disposition: form-data; name="payload"'
  return {
    url: '/api/feedback',
    payload: `--${boundary}\r\n${part}\r\n\r\n${json}\r\n--${boundary}--\r\n`,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  }
}
