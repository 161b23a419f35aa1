import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { claimPort } from '../supervisor/ports.ts'
import { tryFetch } from '../supervisor/try-fetch.ts'
import { startReadyChild } from '../supervisor/ready-child.ts'
import { makePrivateDir } from './private-dir.ts'
import { randomSecret, type Service, type ServiceOptions } from './service.ts'

const host = fileURLToPath(new URL('../../hosts/s3.mjs', import.meta.url))

export interface S3Options extends ServiceOptions {
  accessKey?: string
  /** Default: a random one. */
  secretKey?: string
  /** A second pair of keys, for tests of key rotation. */
  otherKeys?: { accessKey: string; secretKey: string }
}

/**
 * Starts an S3 server on loopback that keeps its objects in a folder. The objects survive restarts
 * and SIGKILL, but perhaps not a power failure, because the server does not fsync. It serves only
 * what hosts/s3-guard.mjs lets pass. Resolves when the server responds.
 */
export async function startS3(options: S3Options): Promise<Service> {
  const { accessKey = 'intake', secretKey = randomSecret(), readyMs = 30_000, signal } = options
  const dataDir = resolve(options.dataDir)
  const port = await claimPort('S3', options.port)
  const directory = join(dataDir, 'buckets')
  for (const folder of [dataDir, directory]) makePrivateDir(folder)
  const { otherKeys } = options
  const accounts = [{ accessKey, secretKey }, ...(otherKeys === undefined ? [] : [otherKeys])]

  const child = await startReadyChild({
    name: 'S3',
    command: process.execPath,
    args: [host],
    env: {
      PATH: process.env['PATH'],
      S3_DIRECTORY: directory,
      S3_PORT: String(port),
      S3_ACCOUNTS: JSON.stringify(accounts),
    },
    logFile: options.logFile ?? join(dataDir, 's3.log'),
    ownSession: options.ownSession,
    readyMs,
    signal,
    probe: () => refusesAnonymous(port),
  })
  return { ...child, port, url: `http://${accessKey}:${secretKey}@127.0.0.1:${port}` }
}

async function refusesAnonymous(port: number) {
  const reply = await tryFetch(`http://127.0.0.1:${port}/`, 1_000)
  return reply?.status === 403 && reply.headers.get('server') === 'intake-s3'
}
