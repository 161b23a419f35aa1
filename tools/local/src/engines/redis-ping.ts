import { connect } from 'node:net'

const timeoutMs = 1000

/** Uses no client library, which would reconnect, queue commands and write logs. */
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
