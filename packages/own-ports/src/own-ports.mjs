// Protects the passwords of the engines (such as Redis) of `npm start`. While an engine restarts, its
// port is free, and a process of another user could listen on it and get the passwords. `npm start`
// loads this module into each of its processes before their code; OWN_PORTS has the ports.
import { subscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { endianness } from 'node:os'

const guarded = new Set()
const listening = '0A'

/**
 * From now on, this process connects to these ports of 127.0.0.1 only if a process of the same user
 * listens there. Otherwise it destroys the connection before anything is sent, whichever client
 * library opened it. The `fetch` of Node 20 and 22 then connects again until its timeout; that of
 * later versions rejects at once. Does nothing on a system without `/proc/net/tcp`.
 *
 * @param ports separated by commas
 */
export function connectOnlyToOwnUser(ports = '') {
  const isFirst = guarded.size === 0
  for (const port of ports.split(',').filter(Boolean)) guarded.add(Number(port))
  if (isFirst && guarded.size > 0) subscribe('net.client.socket', guard)
}

connectOnlyToOwnUser(process.env.OWN_PORTS)

function guard({ socket }) {
  // Each socket runs this listener first, before the listeners in which clients write.
  socket.once('connect', () => {
    const { remoteAddress, remotePort, localPort } = socket
    if (remoteAddress !== '127.0.0.1' || remotePort === undefined) return
    if (!guarded.has(remotePort) || isOfOwnUser(remotePort, localPort)) return
    socket.destroy(new Error(`another user of this machine listens on port ${remotePort}`))
  })
}

/**
 * Whether the listening socket and the socket that accepted the connection both belong to the user
 * of this process. Until a connection is accepted, its inode is 0 and the system's table shows no
 * user for it. The connection is then in the queue of the listening socket, so the user of the
 * listening socket is enough.
 */
function isOfOwnUser(port, from) {
  const rows = readSockets()
  if (rows === undefined) return true
  const own = String(process.getuid())
  const local = addressOf(port)
  const server = rows.find((row) => row.local === local && row.state === listening)
  const peer = rows.find((row) => row.local === local && row.remote === addressOf(from))
  return server?.uid === own && peer !== undefined && (peer.uid === own || peer.inode === '0')
}

/** Reads the system's table of IPv4 sockets (proc_pid_net(5)); undefined if it cannot be read. */
function readSockets() {
  let text
  try {
    text = readFileSync('/proc/net/tcp', 'latin1')
  } catch {
    return undefined
  }
  return text
    .split('\n')
    .slice(1, -1)
    .map((line) => {
      const [, local, remote, state, , , , uid, , inode] = line.trim().split(/\s+/)
      return { local, remote, state, uid, inode }
    })
}

/** Prints 127.0.0.1 and the port in the form that the table of sockets has. */
function addressOf(port) {
  const host = endianness() === 'LE' ? '0100007F' : '7F000001'
  return `${host}:${port.toString(16).toUpperCase().padStart(4, '0')}`
}
