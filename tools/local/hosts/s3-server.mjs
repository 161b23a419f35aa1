// Serves S3 from a folder, on loopback. Environment: S3_DIRECTORY, S3_PORT, and S3_ACCOUNTS (the
// access keys as JSON).
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
const refusalOf = createGuard(new Set(accounts.map(({ accessKey }) => accessKey)))

// S3rver alone would write directly to the files of the object: its content, its MD5 and its
// metadata. Here each is first written to this folder, and replaces the file of the object only
// when it is complete. So an upload that is cut off does not damage an existing object, and an
// object can be read while it is stored again. No bucket can have the name of this folder.
const uploads = join(S3_DIRECTORY, '.uploads')
rmSync(uploads, { recursive: true, force: true })
const { putContent, putMetadata } = FilesystemStore.prototype
FilesystemStore.prototype.putContent = (objectPath, content) =>
  replace([objectPath], ([path]) => putContent(path, content))
FilesystemStore.prototype.putMetadata = function (bucket, key, metadata, md5) {
  const names = md5 ? ['object.md5', 'metadata.json'] : ['metadata.json']
  const paths = names.map((name) => this.getResourcePath(bucket, key, name))
  return replace(paths, (written) => {
    const getResourcePath = (_bucket, _key, name) => written[names.indexOf(name)]
    return putMetadata.call({ getResourcePath }, bucket, key, metadata, md5)
  })
}

/** Replaces files by those that `write` has written, of which it gets the paths. */
async function replace(paths, write) {
  const written = paths.map(() => join(uploads, randomUUID()))
  // The folder is created for every upload, because restoring a backup of all buckets removes it.
  await mkdir(uploads, { recursive: true })
  try {
    const result = await write(written)
    for (const [index, path] of paths.entries()) await rename(written[index], path)
    return result
  } catch (error) {
    for (const path of written) await rm(path, { force: true })
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
