import { connect, type Socket } from 'node:net'
import type { Attacker } from '../hostile-case.ts'

/**
 * Opens a connection. An error closes the connection, but is not thrown. Nothing is read until
 * there is a listener for data. With `allowHalfOpen` it can be written after the gateway has ended
 * its half.
 */
export function dial({ port }: Pick<Attacker, 'port'>, { allowHalfOpen = false } = {}): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen })
  socket.on('error', () => undefined)
  return socket
}

/** Resolves to true when the connection is established, and to false if it closes before. */
export function connected(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('close', () => resolve(false))
  })
}

/**
 * Resolves to true when the bytes have been handed to the system, to false if the connection has
 * closed.
 */
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

/** Resolves when the connection has closed for any reason. */
export function ended(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve()
  return new Promise((resolve) => void socket.once('close', () => resolve()))
}
