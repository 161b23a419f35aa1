import { connect, type Socket } from 'node:net'
import type { Cluster } from './cluster.ts'

export const boundary = 'faults'
export const png = Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001', 'hex')

/** Starts to send a feedback form with one image, but sends only some bytes of the image. */
export function startUpload(cluster: Cluster, bytesSent: number): Socket {
  const socket = connect(Number(new URL(cluster.gatewayUrls[0]!).port), '127.0.0.1')
  socket.on('error', () => undefined)
  const part = `--${boundary}\r\ncontent-disposition: form-data; name="attachments"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n`
  socket.write(
    `POST /api/feedback HTTP/1.1\r\nhost: a\r\nx-api-key: ${cluster.apiKey}\r\n` +
      `content-type: multipart/form-data; boundary=${boundary}\r\ncontent-length: 9000000\r\n\r\n` +
      part,
  )
  socket.write(Buffer.concat([png, Buffer.alloc(bytesSent)]))
  return socket
}
