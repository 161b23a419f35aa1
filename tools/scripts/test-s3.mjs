// npm run test:s3: tests attachments on real S3 servers: the S3 client alone, and the whole path of
// feedback. The servers are the embedded server, MinIO and versitygw. Takes about five minutes. A
// server is skipped if its program is neither on the PATH nor in Go's folder. To build missing
// programs with Go first: npm run test:s3 -- --install. The last line is `N passed, N failed`.
import { spawnSync } from 'node:child_process'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { bootstrap } from './bootstrap.mjs'
import { isExecutable } from './engine.mjs'
import { report, runTap } from './run-tap.mjs'

/** The versions that docs/deploy/object-store.md lists as tested. */
const servers = {
  minio: 'github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c',
  versitygw: 'github.com/versity/versitygw/cmd/versitygw@v1.8.0',
}

await bootstrap()
const install = process.argv.includes('--install')
const env = { ...process.env }
const skipped = []
for (const [name, source] of Object.entries(servers)) {
  const program = find(name) ?? (install ? build(name, source) : undefined)
  if (program === undefined) skipped.push(`${name} (go install ${source})`)
  env[`${name.toUpperCase()}_PROGRAM`] = program ?? ''
  console.log(`${name}: ${program ?? 'skipped, there is no such program'}`)
}

report([await runTap(['test/s3/real-servers.ts'], env)], skipped)

/** The path of a program on the PATH or in Go's folder; undefined if there is none. */
function find(name) {
  const { PATH = '', GOBIN, GOPATH } = process.env
  const ofGo = GOBIN ?? join(GOPATH?.split(delimiter)[0] ?? join(homedir(), 'go'), 'bin')
  return [...PATH.split(delimiter), ofGo]
    .map((folder) => join(folder, name))
    .find((file) => isExecutable(file))
}

function build(name, source) {
  console.log(`${name}: go install ${source}`)
  spawnSync('go', ['install', source], { stdio: 'inherit' })
  return find(name)
}
