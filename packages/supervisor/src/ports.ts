import { connect, createServer } from 'node:net'

import { StartError } from './start-error.ts'

const host = '127.0.0.1'
const connectTimeoutMs = 500

/** A port that was free on loopback a moment ago. */
export async function pickPort(): Promise<number> {
  const port = await listenOnce(0)
  if (typeof port !== 'number') throw new StartError(`No free port on ${host} (${port.code}).`)
  return port
}

/** The port itself, or a free one when it is 0. Rejects with one sentence when it is taken. */
export async function claimPort(name: string, port: number): Promise<number> {
  if (port === 0) return pickPort()
  const problem = await portProblem(port)
  if (problem !== undefined) throw new StartError(`${name} cannot use port ${port}: ${problem}.`)
  return port
}

/**
 * Why nothing can be served on that port of this machine, or undefined when it is free. A port that
 * something serves on another address counts as taken when `localhost` would reach it.
 */
export async function portProblem(port: number): Promise<string | undefined> {
  const answers = await Promise.all([connects(host, port), connects('::1', port)])
  if (answers.includes(true)) return 'another process is using it'
  const bound = await listenOnce(port)
  if (typeof bound === 'number') return undefined
  if (bound.code === 'EADDRINUSE') return 'another process is using it'
  if (bound.code === 'EACCES') return 'this user may not listen on it'
  return `listening on it fails with ${bound.code}`
}

function listenOnce(port: number): Promise<number | NodeJS.ErrnoException> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => {
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : port
      server.close(() => resolve(bound))
    })
  })
}

function connects(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: connectTimeoutMs })
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => settle(true))
    socket.once('timeout', () => settle(false))
    socket.once('error', () => settle(false))
  })
}
