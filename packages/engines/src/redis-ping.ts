import { connect } from 'node:net'

const timeoutMs = 1000

/**
 * True when the Redis on that port accepts the password and answers PING. Spoken by hand, because a
 * client library would reconnect, queue and log where a probe must simply ask once.
 */
export function pingRedis({ port, password }: { port: number; password: string }) {
  return new Promise<boolean>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    const timer = setTimeout(() => socket.destroy(), timeoutMs)
    let answer = ''
    socket.on('connect', () => socket.write(`AUTH ${password}\r\nPING\r\nQUIT\r\n`))
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('error', () => undefined) // refused while it starts; 'close' follows
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(answer.startsWith('+OK\r\n+PONG\r\n'))
    })
  })
}
