// Serves S3 from a folder. Plain JavaScript, because it is started as a separate process, from the sources
// and from dist.
import { createServer } from 'node:http'

import S3rver from '@20minutes/s3rver'
import account from '@20minutes/s3rver/lib/models/account.js'

const { S3_DIRECTORY, S3_PORT, S3_ACCESS_KEY, S3_SECRET_KEY } = process.env
const { S3_OTHER_ACCESS_KEY, S3_OTHER_SECRET_KEY } = process.env

// The server has one account with well-known keys; replace them.
account.DUMMY_ACCOUNT.revokeAccessKey('S3RVER')
account.DUMMY_ACCOUNT.createKeyPair(S3_ACCESS_KEY, S3_SECRET_KEY)
if (S3_OTHER_ACCESS_KEY)
  account.DUMMY_ACCOUNT.createKeyPair(S3_OTHER_ACCESS_KEY, S3_OTHER_SECRET_KEY)

const s3 = new S3rver({ directory: S3_DIRECTORY, silent: true, vhostBuckets: false })
s3.on('error', (error) => {
  if (!(error.status < 500)) console.error(error) // the others are client errors
})
const handle = s3.callback()

// S3rver would let anonymous requests read, so refuse them here.
const server = createServer((request, response) => {
  const signed = request.headers.authorization ?? /[?&]X-Amz-Signature=/i.exec(request.url)
  if (signed) return handle(request, response)
  response.writeHead(403, { 'content-type': 'application/xml', server: 'intake-s3' })
  response.end('<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>')
})
server.listen(Number(S3_PORT), '127.0.0.1')

// Requests in progress get one second; after that, open connections would keep the process alive.
process.once('SIGTERM', () => {
  server.close()
  setTimeout(() => server.closeAllConnections(), 1000).unref()
})
