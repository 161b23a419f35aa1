import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { serve } from '@intake/test-kit/serve'
import { createIntake, type NodeOptions } from '../../src/node/index.ts'
import { createFakeIntake, type FakeIntake } from '../fake-intake.ts'

export interface HttpIntake extends FakeIntake {
  url: string
  /** Files that are served to browsers, by path. */
  files: Map<string, { type: string; body: string }>
}

/**
 * Starts the fake gateway with HTTP. It loses a response by closing the connection. For a feedback
 * it records the payload, and the names, types and contents of the files.
 */
export async function startHttpIntake(t: Pick<Test, 'teardown'>): Promise<HttpIntake> {
  const fake = createFakeIntake(Date.now)
  const files: HttpIntake['files'] = new Map()
  const { url } = await serve(t, (request, response) => {
    void (async () => {
      const path = (request.url ?? '').replace(/^\/(api|i)/, '')
      const file = files.get(path)
      if (request.method === 'GET') {
        response.writeHead(file ? 200 : 404, { 'content-type': file?.type ?? 'text/plain' })
        return void response.end(file?.body)
      }
      const bytes = await buffer(request)
      const type = request.headers['content-type'] ?? ''
      const isGzip = request.headers['content-encoding'] === 'gzip'
      const body = type.startsWith('application/json')
        ? (isGzip ? gunzipSync(bytes) : bytes).toString()
        : await readForm(bytes, type)
      try {
        const answer = await fake.transport({ path, body })
        const retry = answer.retryAfter === null ? {} : { 'retry-after': answer.retryAfter }
        response.writeHead(answer.status, { 'content-type': 'application/json', ...retry })
        response.end(answer.body)
      } catch {
        request.socket.destroy()
      }
    })().catch(() => request.socket.destroy())
  })
  return Object.assign(fake, { url, files })
}

async function readForm(bytes: Buffer, type: string) {
  const response = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
  const form = await response.formData()
  const attachments = form.getAll('attachments') as File[]
  return {
    payload: form.get('payload') as string,
    attachments: await Promise.all(
      attachments.map(async (file) => ({
        name: file.name,
        type: file.type,
        text: await file.text(),
      })),
    ),
  }
}

export const nobody = 'http://127.0.0.1:9'
export const common = {
  apiKey: 'ik_test',
  bundleIdentifier: 'com.example.app',
  flushIntervalMs: 10,
}

/** Starts the fake gateway for a device with a directory. The clients that it creates end with the test. */
export async function startDevice(t: Test) {
  const server = await startHttpIntake(t)
  const storage = createDataDir(t)
  return {
    server,
    storage,
    create(options: Partial<NodeOptions> = {}) {
      const client = createIntake({ ...common, url: server.url, storage, ...options })
      t.teardown(() => client.shutdown({ timeoutMs: 0 }))
      return client
    },
  }
}
