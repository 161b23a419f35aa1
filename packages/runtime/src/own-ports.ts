import { subscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { endianness } from 'node:os'
import { ConfigError } from './config-error.ts'

/**
 * Parses `OWN_PORTS`: the ports, separated by commas, on which the engines (such as Redis) of `npm
 * start` listen. `npm start` sets this variable for its processes; operators do not set it.
 */
export function parseOwnPorts(text = ''): number[] {
  if (text === '') return []
  if (!/^\d{1,5}(,\d{1,5})*$/.test(text)) {
    throw new ConfigError(['OWN_PORTS must be ports, separated by commas'])
  }
  return text.split(',').map(Number)
}

const guarded = new Set<number>()
const listening = '0A'

/**
 * Protects the passwords of engines. While an engine restarts, its port is free, and a process of
 * another user could listen on it and get the passwords. From now on, this process connects to
 * these ports of 127.0.0.1 only if a process of the same user listens there. Otherwise it destroys
 * the connection before anything is sent, whichever client library opened it. The `fetch` of Node
 * 20 and 22 then connects again until its timeout; that of later versions rejects at once. Does
 * nothing on a system without `/proc/net/tcp`.
 */
export function connectOnlyToOwnUser(ports: readonly number[]): void {
  const isFirst = guarded.size === 0
  for (const port of ports) guarded.add(port)
  if (isFirst && guarded.size > 0) subscribe('net.client.socket', guard)
}

function guard(message: unknown) {
  const { socket } = message as { socket: Socket }
  // Each socket runs this listener first, before the listeners in which clients write.
  socket.once('connect', () => {
    const { remoteAddress, remotePort, localPort } = socket
    if (remoteAddress !== '127.0.0.1' || remotePort === undefined) return
    if (!guarded.has(remotePort) || isOfOwnUser(remotePort, localPort!)) return
    socket.destroy(new Error(`another user of this machine listens on port ${remotePort}`))
  })
}

/**
 * Whether the listening socket and the socket that accepted the connection both belong to the user
 * of this process. Until a connection is accepted, its inode is 0 and the system's table shows no
 * user for it. The connection is then in the queue of the listening socket, so the user of the
 * listening socket is enough.
 */
function isOfOwnUser(port: number, from: number): boolean {
  const rows = readSockets()
  if (rows === undefined) return true
  const own = String(process.getuid!())
  const local = addressOf(port)
  const server = rows.find((row) => row.local === local && row.state === listening)
  const peer = rows.find((row) => row.local === local && row.remote === addressOf(from))
  return server?.uid === own && peer !== undefined && (peer.uid === own || peer.inode === '0')
}

/** Reads the system's table of IPv4 sockets (proc_pid_net(5)); undefined if it cannot be read. */
function readSockets() {
  let text: string
  try {
    text = readFileSync('/proc/net/tcp', 'latin1')
  } catch {
    return undefined
  }
  const lines = text.split('\n').slice(1, -1)
  return lines.map((line) => {
    const [, local, remote, state, , , , uid, , inode] = line.trim().split(/\s+/)
    return { local, remote, state, uid, inode }
  })
}

/** Prints 127.0.0.1 and the port in the form that the table of sockets has. */
function addressOf(port: number) {
  const host = endianness() === 'LE' ? '0100007F' : '7F000001'
  return `${host}:${port.toString(16).toUpperCase().padStart(4, '0')}`
}
