import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { createUuidV7 } from '@intake/contract'
import { createSandbox, type Sandbox } from '../src/index.ts'

export async function startSandbox(
  t: Test,
  options: Parameters<typeof createSandbox>[0] = {},
): Promise<Sandbox> {
  const sandbox = await createSandbox(options)
  t.teardown(() => sandbox.close())
  return sandbox
}

const deviceUuid = randomUUID()

const sender = {
  bundle_identifier: 'com.example.app',
  device: { os: 'Android' },
  device_uuid: deviceUuid,
  unique_user_id: 'user-1',
}

export interface Answer {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

/** Rejects if the connection closes before the whole response has arrived. */
async function post(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', redirect: 'manual', ...init })
  const text = await response.text()
  const isJson = (response.headers.get('content-type') ?? '').includes('json')
  return {
    status: response.status,
    headers: response.headers,
    body: (isJson ? JSON.parse(text) : { text }) as Record<string, unknown>,
  }
}

const jsonHeaders = { 'x-api-key': 'ik_sandbox', 'content-type': 'application/json' }

export const newId = () => createUuidV7(Date.now())

export const sendLog = (
  { url }: { url: string },
  log: object = {},
  headers: object = {},
  signal?: AbortSignal,
) =>
  post(`${url}/api/log`, {
    headers: { ...jsonHeaders, ...headers },
    body: JSON.stringify({ ...sender, log: { event: 'tap', ...log } }),
    ...(signal && { signal }),
  })

export const sendBatch = ({ url }: { url: string }, logs: object[]) =>
  post(`${url}/api/log/batch`, {
    headers: jsonHeaders,
    body: JSON.stringify({ ...sender, logs: logs.map((log) => ({ event: 'tap', ...log })) }),
  })

export function sendFeedback(
  { url }: { url: string },
  feedback: object,
  files: Blob[] = [],
): Promise<Answer> {
  const form = new FormData()
  form.append('payload', JSON.stringify({ ...sender, feedback }))
  for (const file of files) form.append('attachments', file, 'picture.png')
  return post(`${url}/api/feedback`, { headers: { 'x-api-key': 'ik_sandbox' }, body: form })
}

export const addFault = ({ url }: { url: string }, fault: unknown) =>
  post(`${url}/_sandbox/faults`, { body: JSON.stringify(fault) })

export async function readRecords(
  { url }: { url: string },
  query = '',
): Promise<Record<string, unknown>[]> {
  const response = await fetch(`${url}/_sandbox/records${query}`)
  return ((await response.json()) as { records: Record<string, unknown>[] }).records
}

/** A picture of one pixel. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
