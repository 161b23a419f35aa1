import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { until } from './until.ts'

const nobody = 65_534

/** Why this process cannot start a process of another user; false if it can. */
export const noForeignListener =
  (process.platform !== 'linux' || process.getuid?.() !== 0) &&
  'only root can start a process of another user'

export interface ForeignListener {
  /** The ports that the process listens on from the start, in the order in which it bound them. */
  ports: number[]
  /** Everything that clients have sent to the listener. */
  received(): string
  /**
   * Resolves when `times` connections to `port` (default: any port) have been opened and closed.
   */
  untilClosed(times: number, port?: number): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a process of the user `nobody` that listens on 127.0.0.1 until the test ends. The process
 * listens on each port as soon as that port is free.
 *
 * @param wanted the ports; 0 selects a free port
 */
export async function startForeignListener(t: Test, wanted: number[]): Promise<ForeignListener> {
  const child = spawn(process.execPath, ['-e', script, ...wanted.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (data) => (output += String(data)))
  const exited = once(child, 'exit')
  async function stop() {
    child.kill('SIGKILL')
    await exited
  }
  t.teardown(stop)
  const lines = (kind: string) =>
    output
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([first]) => first === kind)
  await until('it has begun', () => lines('begun').length === 1)
  const free = wanted.filter((port) => port === 0).length
  await until('it listens', () => lines('listens').length >= free)
  return {
    ports: lines('listens').map(([, port]) => Number(port)),
    received: () => lines('received').join('\n'),
    untilClosed: (times, port) =>
      until('the connections are closed', () => {
        const closed = lines('closed').filter(([, of]) => port === undefined || of === String(port))
        return closed.length >= times
      }).then(() => undefined),
    stop,
  }
}

const script = `
process.setgid(${nobody})
process.setuid(${nobody})
console.log('begun')
for (const wanted of process.argv.slice(1)) {
  const server = require('node:net').createServer((socket) => {
    const { port } = server.address()
    socket.on('data', (data) => console.log('received', port, JSON.stringify(String(data))))
    socket.on('error', () => {})
    socket.on('close', () => console.log('closed', port))
  })
  const listen = () => server.listen(Number(wanted), '127.0.0.1')
  server.on('listening', () => console.log('listens', server.address().port))
  server.on('error', () => setTimeout(listen, 1))
  listen()
}`
