import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { Client, S3Error } from 'minio'
import { IntakeError } from '@intake/contract'
import { retryUntil, withTimeout } from '@intake/runtime'
import { provideCredentials } from './credentials.ts'
import { isFinal } from './describe-error.ts'
import type { ObjectStoreSettings } from './settings.ts'
import { transportWithTimeout } from './transport.ts'

export interface StoredObject {
  /** Characters of `[A-Za-z0-9/_.-]`, without the `prefix` of the settings. */
  key: string
  body: Buffer
  contentType: string
  /** A hash in hexadecimal, with which the store verifies the body, and which it keeps. */
  sha256: string
}

export interface ObjectStore {
  /**
   * Resolves when the store has confirmed the object. An attempt that fails or gets no response is
   * repeated under the same key until the timeout. It is not repeated if the store refuses it for a
   * reason that a retry would not change.
   *
   * @throws {IntakeError} `storage_unavailable`; the object may or may not exist
   */
  put(object: StoredObject): Promise<void>
  /**
   * Resolves to the bytes of an object; undefined if it does not exist. Rejects if the store does
   * not respond in time, or if the object is larger than `bytesMax` (default: any size).
   */
  get(key: string, options?: { bytesMax: number }): Promise<Buffer | undefined>
  /** Deletes as many objects as it can within the timeout. Rejects if one may remain. */
  remove(keys: string[]): Promise<void>
  /**
   * Yields the keys that start with `prefix`, in order. Reads them in pages. Rejects if reading one
   * page takes longer than the timeout.
   */
  list(prefix: string): AsyncIterable<string>
  /** Rejects when the bucket does not exist or the store does not respond in time. */
  checkBucket(): Promise<void>
  ensureBucket(): Promise<void>
  close(): void
}

const pauseMs = 200
const idleRepeatsMax = 3
const pageKeys = 1_000

/** @param options.timeoutMs the timeout of a whole operation, including its retries */
export function createObjectStore(
  options: ObjectStoreSettings & { timeoutMs: number },
): ObjectStore {
  const { bucket, timeoutMs } = options
  // An attempt gets half of the timeout, so that a retry is possible if the first gets no response.
  const attemptMs = timeoutMs / 2
  const { client, agent, secure } = connect(options, attemptMs)
  const folder = folderOf(options.prefix)
  const encryptionHeaders = headersFor(options.encryption)

  const repeat = <Result>(what: string, attempt: () => Promise<Result>): Promise<Result> =>
    retryUntil(attempt, {
      what,
      deadline: performance.now() + timeoutMs,
      attemptTimeoutMs: attemptMs,
      pauseMs,
      isFinal,
    })

  return {
    async put(object) {
      const { key, body, sha256 } = object
      const headers = { ...headersOf(object, secure), ...encryptionHeaders }
      const request = { bucketName: bucket, objectName: folder + key, headers }
      const attempt = () => send(client, request, { body, signed: secure ? '' : sha256 })
      await repeat('storing an attachment', attempt).catch((cause: unknown) => {
        const detail = 'The attachment store did not accept the attachments.'
        throw new IntakeError('storage_unavailable', detail, { cause })
      })
    },

    async get(key, { bytesMax } = { bytesMax: Infinity }) {
      // If an object is not complete after `attemptMs`, the transport ends its download.
      const attempt = async () => readAll(await client.getObject(bucket, folder + key), bytesMax)
      return read('reading an attachment', timeoutMs, attempt).catch((error: unknown) => {
        if (error instanceof S3Error && error.code === 'NoSuchKey') return undefined
        throw error
      })
    },

    async remove(keys) {
      const removeOne = (key: string) =>
        repeat('removing an attachment', () => client.removeObject(bucket, folder + key))
      await Promise.all(keys.map(removeOne))
    },

    async *list(prefix) {
      const page = { Delimiter: '', MaxKeys: pageKeys }
      const readPage = (after: string) =>
        repeat('listing attachments', () =>
          client.listObjectsQuery(bucket, folder + prefix, after, page),
        )
      for await (const key of keysOf(readPage)) yield key.slice(folder.length)
    },

    ...bucketOf(client, { ...options, folder }),
    close: () => agent.destroy(),
  }
}

function connect(options: ObjectStoreSettings, attemptMs: number) {
  const { endpoint, region, addressing = 'path' } = options
  const currentUrl = () => new URL(typeof endpoint === 'string' ? endpoint : endpoint.current())
  const url = currentUrl()
  const secure = url.protocol === 'https:'
  const agent = new (secure ? https : http).Agent({ keepAlive: true, maxSockets: 64 })
  const client = new Client({
    endPoint: url.hostname,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    useSSL: secure,
    credentialsProvider: provideCredentials({ ...options, currentUrl }),
    region,
    pathStyle: addressing === 'path',
    transport: transportWithTimeout(url.protocol, attemptMs),
    transportAgent: agent,
    retryOptions: { disableRetry: true },
  })
  return { client, agent, secure }
}

/** `putObject` would compute two more hashes: a fifth of the cost of storing an image. */
async function send(
  client: Client,
  request: { bucketName: string; objectName: string; headers: Record<string, string | number> },
  { body, signed }: { body: Buffer; signed: string },
): Promise<void> {
  const put = { method: 'PUT', ...request }
  const response = await client.makeRequestStreamAsync(put, body, signed, [200], '')
  await finished(response.resume())
}

function bucketOf(
  client: Client,
  options: Pick<ObjectStoreSettings, 'bucket' | 'region'> & { folder: string; timeoutMs: number },
): Pick<ObjectStore, 'checkBucket' | 'ensureBucket'> {
  const { bucket, region, folder, timeoutMs } = options

  async function exists(): Promise<boolean> {
    // If a folder is set, the credentials may be allowed to list this folder only. So only the list
    // request below is sent.
    if (folder === '' && (await isFound())) return true
    // Sends a list request, because its errors have a code. A HEAD request is not enough: if the
    // access key is unknown or lacks rights, some servers respond as if the bucket did not exist.
    try {
      await client.listObjectsQuery(bucket, folder, '', { Delimiter: '', MaxKeys: 1 })
      return true
    } catch (error) {
      if (error instanceof S3Error && error.code === 'NoSuchBucket') return false
      throw error
    }
  }

  const isFound = () =>
    client.bucketExists(bucket).catch((error: unknown) => {
      if (error instanceof S3Error) return false
      throw error
    })

  async function ensure(): Promise<void> {
    if (await exists()) return
    await client.makeBucket(bucket, region).catch(async (error: unknown) => {
      // Another process may have created the bucket since the check.
      if (!(await exists())) throw error
    })
  }

  return {
    async checkBucket() {
      const found = await read('the object store', timeoutMs, exists)
      if (!found) throw new Error(`there is no bucket ${bucket}`)
    },
    ensureBucket: () => withTimeout(ensure(), timeoutMs, 'creating the bucket'),
  }
}

/**
 * Repeats up to three times if the connection was closed: a server may close an idle connection at
 * the moment when the client uses it again.
 */
function read<Result>(
  what: string,
  timeoutMs: number,
  attempt: () => Promise<Result>,
): Promise<Result> {
  let repeats = 0
  return retryUntil(attempt, {
    what,
    deadline: performance.now() + timeoutMs,
    attemptTimeoutMs: timeoutMs,
    pauseMs,
    isFinal: (error) => !isClosedConnection(error) || ++repeats > idleRepeatsMax,
  })
}

/**
 * Yields the keys of all pages. S3 has two kinds of list request. This is the older one, whose next
 * page starts after a given key. The newer one needs a token from the server.
 */
async function* keysOf(readPage: (after: string) => ReturnType<Client['listObjectsQuery']>) {
  for (let after: string | undefined = ''; after !== undefined;) {
    const { objects, isTruncated }: Awaited<ReturnType<typeof readPage>> = await readPage(after)
    const keys = objects.flatMap(({ name }) => (name === undefined ? [] : [name]))
    yield* keys
    after = isTruncated ? keys.at(-1) : undefined
  }
}

function headersOf({ body, contentType, sha256 }: StoredObject, secure: boolean) {
  return {
    'Content-Type': contentType,
    'Content-Length': body.length,
    'x-amz-meta-sha256': sha256,
    // With TLS the hash is sent in this header. Without TLS the signature covers the hash.
    ...(secure && { 'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64') }),
  }
}

/** Returns the prefix of the settings with a slash at its end; empty if no prefix is set. */
function folderOf(prefix = ''): string {
  return prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
}

function headersFor(encryption: ObjectStoreSettings['encryption']): Record<string, string> {
  if (encryption === undefined) return {}
  const { algorithm, kmsKeyId } = encryption
  return {
    'x-amz-server-side-encryption': algorithm,
    ...(kmsKeyId && { 'x-amz-server-side-encryption-aws-kms-key-id': kmsKeyId }),
  }
}

async function readAll(stream: Readable, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error(`an attachment is larger than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const isClosedConnection = (error: unknown) =>
  ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')
