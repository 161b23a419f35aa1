import { randomInt } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { lockPort } from './lock.ts'
import { StartError } from './start-error.ts'

const host = '127.0.0.1'
const connectTimeoutMs = 500

/** The range is below that of outgoing connections, which could take a picked port. */
const lowestPicked = 20_000
const highestPicked = 26_383
const attempts = 100

/** Returns a free port on loopback that no running process has picked. */
export async function pickPort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(lowestPicked, highestPicked + 1)
    if ((await listenOnce(port)) === undefined && (await lockPort(port, 'picked'))) return port
  }
  throw new StartError(`No port between ${lowestPicked} and ${highestPicked} is free.`)
}

/**
 * Resolves to the port, or for 0 to a free one.
 * @throws {StartError} if the port cannot be used
 */
export async function claimPort(name: string, port: number): Promise<number> {
  if (port === 0) return pickPort()
  const problem = await portProblem(port)
  if (problem !== undefined) throw new StartError(`${name} cannot use port ${port}: ${problem}.`)
  return port
}

/** Returns undefined if the port is free on all addresses that `localhost` could reach. */
export async function portProblem(port: number): Promise<string | undefined> {
  const connected = await Promise.all([connects(host, port), connects('::1', port)])
  if (connected.includes(true)) return 'another process is using it'
  const error = await listenOnce(port)
  if (error === undefined) return undefined
  if (error.code === 'EADDRINUSE') return 'another process is using it'
  if (error.code === 'EACCES') return 'this user may not listen on it'
  return `listening on it fails with ${error.code}`
}

function listenOnce(port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

function connects(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: connectTimeoutMs })
    const settle = (connected: boolean) => {
      socket.destroy()
      resolve(connected)
    }
    socket.once('connect', () => settle(true))
    socket.once('timeout', () => settle(false))
    socket.once('error', () => settle(false))
  })
}
