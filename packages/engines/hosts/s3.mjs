// A process that serves S3 from a folder. Plain JavaScript because it is started as a process of its
// own, from the sources and from dist.
import { createServer } from 'node:http'

import S3rver from '@20minutes/s3rver'
import account from '@20minutes/s3rver/lib/models/account.js'

const { S3_DIRECTORY, S3_PORT, S3_ACCESS_KEY, S3_SECRET_KEY } = process.env

// The server knows one account with well-known keys.
account.DUMMY_ACCOUNT.revokeAccessKey('S3RVER')
account.DUMMY_ACCOUNT.createKeyPair(S3_ACCESS_KEY, S3_SECRET_KEY)

const s3 = new S3rver({ directory: S3_DIRECTORY, silent: true, vhostBuckets: false })
s3.on('error', (error) => {
  if (!(error.status < 500)) console.error(error) // the others are answers to a client's mistake
})
const handle = s3.callback()

// It would let anonymous requests read, so they end here.
const server = createServer((request, response) => {
  const signed = request.headers.authorization ?? /[?&]X-Amz-Signature=/i.exec(request.url)
  if (signed) return handle(request, response)
  response.writeHead(403, { 'content-type': 'application/xml', server: 'intake-s3' })
  response.end('<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>')
})
server.listen(Number(S3_PORT), '127.0.0.1')

// Requests under way are answered; idle connections would keep it open.
process.once('SIGTERM', () => {
  server.close()
  setTimeout(() => server.closeAllConnections(), 1000).unref()
})
