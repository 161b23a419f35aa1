import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pickPort, startReadyChild, startS3, type Service } from '@intake/local'

/** A kind of S3 server, and what it supports beyond objects. */
export interface ServerKind {
  name: string
  /** Starts a server on loopback, with this data folder and port (0: a free one). */
  launch: (options: { dataDir: string; port: number }) => Promise<Service>
  /** Whether the host name can contain the bucket, as in `bucket.localhost`. */
  hasVirtualHosts: boolean
  /**
   * Whether the server can encrypt objects, compares an object with its hash, and can issue
   * temporary credentials limited by a policy.
   */
  hasKeysAndRoles: boolean
}

const accessKey = 'intake'
const secretKey = 'intake-s3-secret'
/** The timeout of a start. It is much longer than a start takes. */
const readyMs = 120_000
/** The name of the key with which MinIO encrypts. Its value can be any 32 bytes. */
export const kmsKeyId = 'intake-key'
const kmsKey = `${kmsKeyId}:${Buffer.alloc(32, 7).toString('base64')}`

export const embedded: ServerKind = {
  name: 'the embedded server',
  launch: (options) => startS3({ ...options, accessKey, secretKey, readyMs }),
  hasVirtualHosts: false,
  hasKeysAndRoles: false,
}

export const minio = (command: string): ServerKind => ({
  name: 'MinIO',
  launch: (options) =>
    launch('MinIO', options, ({ dataDir, port }) => ({
      command,
      args: [
        'server',
        dataDir,
        '--address',
        `127.0.0.1:${port}`,
        '--console-address',
        '127.0.0.1:0',
      ],
      env: {
        MINIO_ROOT_USER: accessKey,
        MINIO_ROOT_PASSWORD: secretKey,
        MINIO_DOMAIN: 'localhost',
        MINIO_KMS_SECRET_KEY: kmsKey,
        MINIO_UPDATE: 'off',
      },
    })),
  hasVirtualHosts: true,
  hasKeysAndRoles: true,
})

export const versitygw = (command: string): ServerKind => ({
  name: 'versitygw',
  launch: (options) =>
    launch('versitygw', options, ({ dataDir, port }) => ({
      command,
      args: ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', dataDir],
      env: {
        ROOT_ACCESS_KEY: accessKey,
        ROOT_SECRET_KEY: secretKey,
        VGW_VIRTUAL_DOMAIN: 'localhost',
      },
    })),
  hasVirtualHosts: true,
  hasKeysAndRoles: false,
})

async function launch(
  name: string,
  options: { dataDir: string; port: number },
  describe: (at: { dataDir: string; port: number }) => {
    command: string
    args: string[]
    env: Record<string, string>
  },
): Promise<Service> {
  const port = options.port === 0 ? await pickPort() : options.port
  const dataDir = join(options.dataDir, 'objects')
  mkdirSync(dataDir, { recursive: true })
  const { command, args, env } = describe({ dataDir, port })
  const child = await startReadyChild({
    name,
    command,
    args,
    env: { ...process.env, ...env },
    logFile: join(options.dataDir, 'server.log'),
    readyMs,
    probe: () => refusesAnonymous(port),
  })
  return { ...child, port, url: `http://${accessKey}:${secretKey}@127.0.0.1:${port}` }
}

async function refusesAnonymous(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      signal: AbortSignal.timeout(1_000),
    })
    await response.arrayBuffer()
    return response.status === 403
  } catch {
    return false // not listening yet
  }
}
