import { connect } from 'node:net'

const timeoutMs = 1000

/**
 * Resolves to whether the Redis on the port accepts the password and responds to PING. Uses no
 * client library: a library would reconnect, queue commands and write logs, but a probe must try
 * only once.
 */
export function pingRedis({ port, password }: { port: number; password: string }) {
  return new Promise<boolean>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    const timer = setTimeout(() => socket.destroy(), timeoutMs)
    let reply = ''
    socket.on('connect', () => socket.write(`AUTH ${password}\r\nPING\r\nQUIT\r\n`))
    socket.on('data', (chunk) => (reply += chunk.toString()))
    socket.on('error', () => undefined) // Redis may not listen yet; 'close' follows
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(reply.startsWith('+OK\r\n+PONG\r\n'))
    })
  })
}
