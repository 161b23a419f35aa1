import { hash } from 'node:crypto'
import { once } from 'node:events'
import { realpathSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { StartError } from './start-error.ts'

export interface Lock {
  release(): Promise<void>
}

/**
 * Makes this process the only one that uses the data directory, until it releases the lock or ends.
 * The lock is a listening Unix socket, which the system closes when the process ends. On Linux the
 * socket has an abstract name (unix(7)) and no file, so nothing remains. On other systems a killed
 * process leaves a socket file that refuses connections, and the next process replaces that file.
 * If two processes start at the same moment, both may replace the file, and both get the lock.
 *
 * @throws {StartError} if another process holds the lock
 */
export async function lockDataDir(dataDir: string): Promise<Lock> {
  const lock = await lockSocket(socketPath(dataDir))
  if (lock === undefined) {
    throw new StartError(
      `Intake is already running on ${dataDir}: stop it first, or set INTAKE_DATA_DIR to another folder.`,
    )
  }
  return lock
}

/** The path of a socket has at most about 100 bytes, so it is not in the data directory. */
const socketPath = (dataDir: string) =>
  pathOf(`intake-${hash('sha256', realpathSync(dataDir)).slice(0, 16)}.lock`)

const pathOf = (name: string) => (process.platform === 'linux' ? `\0${name}` : join(tmpdir(), name))

/**
 * Resolves to whether nobody else has picked or claimed this port. This process has it until it
 * ends, also before anything listens on the port.
 */
export const lockPort = async (port: number, use: 'picked' | 'claimed'): Promise<boolean> =>
  (await lockSocket(pathOf(`intake-port-${port}-${use}.lock`))) !== undefined

/** Resolves to undefined if another process holds it. */
export async function lockSocket(path: string): Promise<Lock | undefined> {
  const isFile = !path.startsWith('\0')
  return (await tryListen(path)) ?? (isFile ? replaceStale(path) : undefined)
}

async function replaceStale(path: string) {
  if (await isHeld(path)) return undefined
  rmSync(path, { force: true })
  return tryListen(path)
}

function tryListen(path: string): Promise<Lock | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    )
    server.unref()
    server.listen(path, () =>
      resolve({
        async release() {
          if (!server.listening) return
          server.close()
          await once(server, 'close')
        },
      }),
    )
  })
}

function isHeld(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const settle = (held: boolean) => {
      socket.destroy()
      resolve(held)
    }
    socket.once('connect', () => settle(true))
    socket.once('error', (error: NodeJS.ErrnoException) =>
      settle(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    )
  })
}
