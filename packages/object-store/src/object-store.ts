import { setTimeout as pause } from 'node:timers/promises'
import http from 'node:http'
import https from 'node:https'
import { Client, S3Error } from 'minio'
import { IntakeError } from '@intake/contract'
import { withTimeout } from '@intake/runtime'
import { transportWithTimeout } from './transport.ts'

export interface StoredObject {
  /** Only `[A-Za-z0-9/_.-]`. */
  key: string
  body: Buffer
  contentType: string
  /** Of the body, in hexadecimal; kept as metadata of the object. */
  sha256: string
}

export interface ObjectStore {
  /**
   * Resolves when the store has confirmed the object. Repeats an attempt that failed or was never
   * answered, under the same key, until the deadline.
   *
   * @throws {IntakeError} `storage_unavailable`; the object may or may not exist
   */
  put(object: StoredObject): Promise<void>
  /** Removes what can be removed within the deadline. Rejects when an object may be left over. */
  remove(keys: string[]): Promise<void>
  /** Creates the bucket unless it is there. */
  ensureBucket(): Promise<void>
  close(): void
}

const pauseMs = 200

/**
 * @param options.endpoint `http(s)://ACCESS_KEY:SECRET_KEY@host:port`
 * @param options.timeoutMs for one whole operation, repeats included
 */
export function createObjectStore(options: {
  endpoint: string
  bucket: string
  region: string
  timeoutMs: number
}): ObjectStore {
  const { bucket, region, timeoutMs } = options
  // Room for one repeat after an attempt that was never answered.
  const attemptMs = timeoutMs / 2
  const url = new URL(options.endpoint)
  const secure = url.protocol === 'https:'
  const agent = new (secure ? https : http).Agent({ keepAlive: true, maxSockets: 64 })
  const client = new Client({
    endPoint: url.hostname,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    useSSL: secure,
    accessKey: decodeURIComponent(url.username),
    secretKey: decodeURIComponent(url.password),
    region,
    transport: transportWithTimeout(url.protocol, attemptMs),
    transportAgent: agent,
    retryOptions: { disableRetry: true },
  })

  return {
    async put({ key, body, contentType, sha256 }) {
      const headers = { 'Content-Type': contentType, 'x-amz-meta-sha256': sha256 }
      const deadline = performance.now() + timeoutMs
      for (;;) {
        try {
          const left = deadline - performance.now()
          const attempt = client.putObject(bucket, key, body, body.length, headers)
          await withTimeout(attempt, Math.min(attemptMs, left), 'storing an attachment')
          return
        } catch (cause) {
          if (isFinal(cause) || performance.now() + pauseMs >= deadline) {
            const detail = 'The attachment store did not take the attachments.'
            throw new IntakeError('storage_unavailable', detail, { cause })
          }
        }
        await pause(pauseMs)
      }
    },

    async remove(keys) {
      const removals = keys.map((key) => client.removeObject(bucket, key))
      await withTimeout(Promise.all(removals), timeoutMs, 'removing attachments')
    },

    async ensureBucket() {
      const ensure = async () => {
        if (await client.bucketExists(bucket)) return
        await client.makeBucket(bucket, region).catch(async (error: unknown) => {
          // Another process may have made it in between.
          if (!(await client.bucketExists(bucket))) throw error
        })
      }
      await withTimeout(ensure(), timeoutMs, 'making the bucket')
    },

    close: () => agent.destroy(),
  }
}

const finalCodes = new Set([
  'AccessDenied',
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'NoSuchBucket',
])

/** Whether the store has given an answer that a repeat would not change. */
function isFinal(error: unknown): boolean {
  return error instanceof S3Error && finalCodes.has(error.code ?? '')
}
