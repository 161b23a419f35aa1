import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { claimPort, startChild, untilReady } from '@intake/supervisor'
import { randomSecret, type Service, type ServiceOptions, toService } from './service.ts'

const host = fileURLToPath(new URL('../hosts/s3.mjs', import.meta.url))

export interface S3Options extends ServiceOptions {
  accessKey?: string
  /** Default: a new random one. */
  secretKey?: string
  /** A second pair of keys that the server accepts, for their rotation. */
  otherKeys?: { accessKey: string; secretKey: string }
}

/**
 * Starts an S3 server on loopback that keeps its objects in a folder. They survive restarts and SIGKILL,
 * but not a power loss, because the server does not fsync. Every request must be signed. Resolves when the
 * server responds.
 */
export async function startS3(options: S3Options): Promise<Service> {
  const { accessKey = 'intake', secretKey = randomSecret(), readyMs = 30_000, signal } = options
  const { otherKeys } = options
  const dataDir = resolve(options.dataDir)
  const port = await claimPort('S3', options.port)
  const directory = join(dataDir, 'buckets')
  mkdirSync(directory, { recursive: true })

  signal?.throwIfAborted()
  const child = startChild({
    name: 'S3',
    command: process.execPath,
    args: [host],
    env: {
      ...process.env,
      S3_DIRECTORY: directory,
      S3_PORT: String(port),
      S3_ACCESS_KEY: accessKey,
      S3_SECRET_KEY: secretKey,
      ...(otherKeys && {
        S3_OTHER_ACCESS_KEY: otherKeys.accessKey,
        S3_OTHER_SECRET_KEY: otherKeys.secretKey,
      }),
    },
    logFile: options.logFile ?? join(dataDir, 's3.log'),
    ownSession: options.ownSession,
  })
  await untilReady({ child, signal, timeoutMs: readyMs, probe: () => refusesAnonymous(port) })
  return toService(child, { url: `http://${accessKey}:${secretKey}@127.0.0.1:${port}`, port })
}

async function refusesAnonymous(port: number) {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1000) })
    await response.arrayBuffer()
    return response.status === 403 && response.headers.get('server') === 'intake-s3'
  } catch {
    return false // not listening yet
  }
}
