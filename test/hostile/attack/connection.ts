import { connect, type Socket } from 'node:net'
import type { Attacker } from '../hostile-case.ts'

/** A connection whose failures are no more than its end. Nothing is read unless somebody listens. */
export function dial({ port }: Pick<Attacker, 'port'>): Socket {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  return socket
}

/** Whether the connection came about. */
export function connected(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('close', () => resolve(false))
  })
}

/** Resolves when the bytes are handed to the system; to false when the connection has ended. */
export function written(socket: Socket, bytes: Buffer | string): Promise<boolean> {
  if (socket.destroyed || !socket.writable) return Promise.resolve(false)
  return new Promise((resolve) => {
    const onClose = () => resolve(false)
    socket.once('close', onClose)
    socket.write(bytes, (error) => {
      socket.off('close', onClose)
      resolve(!error)
    })
  })
}

/** Resolves when the connection has ended, however. */
export function ended(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve()
  return new Promise((resolve) => void socket.once('close', () => resolve()))
}
