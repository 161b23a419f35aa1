// Serves S3 from a folder, on loopback. This is plain JavaScript, because it is started as a
// separate process, both from the sources and from dist. Environment: S3_DIRECTORY, S3_PORT, and
// S3_ACCOUNTS (the access keys as JSON).
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'

import S3rver from '@20minutes/s3rver'
import account from '@20minutes/s3rver/lib/models/account.js'
import FilesystemStore from '@20minutes/s3rver/lib/stores/filesystem.js'
import { createGuard } from './s3-guard.mjs'

const { S3_DIRECTORY, S3_PORT } = process.env
const accounts = JSON.parse(process.env.S3_ACCOUNTS)

// S3rver has one account with well-known keys. The keys of this installation replace them.
account.DUMMY_ACCOUNT.revokeAccessKey('S3RVER')
for (const { accessKey, secretKey } of accounts)
  account.DUMMY_ACCOUNT.createKeyPair(accessKey, secretKey)
const refusalOf = createGuard(new Map(accounts.map(({ accessKey, role }) => [accessKey, role])))

// S3rver alone would write directly to the file of the object. Here an upload is first written to
// this folder, and replaces the object only when it is complete. So an upload that is cut off does
// not damage an existing object. No bucket can have the name of this folder.
const uploads = join(S3_DIRECTORY, '.uploads')
rmSync(uploads, { recursive: true, force: true })
const { putContent } = FilesystemStore.prototype
FilesystemStore.prototype.putContent = async (objectPath, content) => {
  const path = join(uploads, randomUUID())
  // The folder is created for every upload, because restoring a backup of all buckets removes it.
  await mkdir(uploads, { recursive: true })
  try {
    const result = await putContent(path, content)
    await rename(path, objectPath)
    return result
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}

const s3 = new S3rver({ directory: S3_DIRECTORY, silent: true, vhostBuckets: false })
s3.on('error', (error) => {
  if (!(error.status < 500)) console.error(error) // lower statuses are errors of the client
})
const handle = s3.callback()

const server = createServer((request, response) => {
  const code = refusalOf(request)
  if (code === undefined) return handle(request, response)
  // Refuses the request without reading its body.
  const headers = { 'content-type': 'application/xml', server: 'intake-s3', connection: 'close' }
  response.writeHead(403, headers)
  response.end(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`)
})
server.listen(Number(S3_PORT), '127.0.0.1')

// Requests in progress get one second. Then all connections are closed, because they would keep the
// process alive.
process.once('SIGTERM', () => {
  server.close()
  setTimeout(() => server.closeAllConnections(), 1000).unref()
})
