// npm run test:s3: tests attachments on real S3 servers: the S3 client alone, and the whole path of
// feedback. The servers are the embedded server, MinIO and versitygw. Takes about five minutes. A
// server is skipped if its program is not on the PATH. The last line is `N passed, N failed`.
import { spawnSync } from 'node:child_process'
import { bootstrap } from './bootstrap.mjs'
import { report, runTap } from './run-tap.mjs'

/** The versions that docs/deploy/object-store.md lists as tested. */
const servers = {
  minio: 'github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c',
  versitygw: 'github.com/versity/versitygw/cmd/versitygw@v1.8.0',
}

await bootstrap()
const env = { ...process.env }
const skipped = []
for (const [name, source] of Object.entries(servers)) {
  const { stdout } = spawnSync('which', [name], { encoding: 'utf8' })
  if (stdout === '') skipped.push(`${name} (go install ${source})`)
  env[`${name.toUpperCase()}_PROGRAM`] = stdout.trim()
}

report([await runTap(['test/s3/real-servers.ts'], env)], skipped)
