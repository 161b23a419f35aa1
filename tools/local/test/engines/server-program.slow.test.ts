import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { startStack } from '@intake/test-kit/running-stack'

const engine = fileURLToPath(new URL('../../hosts/clickhouse-engine.mjs', import.meta.url))

/**
 * Writes a program that is called as a ClickHouse server is, and reads port and folder from the
 * configuration as that does. The embedded engine does the rest. Unlike a server, it needs a user
 * `default`.
 */
function writeStandIn(folder: string): string {
  mkdirSync(folder)
  const program = join(folder, 'clickhouse')
  writeFileSync(
    program,
    `#!${process.execPath}
const { spawn } = require('node:child_process')
const { readFileSync, writeFileSync } = require('node:fs')
const [command, option] = process.argv.slice(2)
if (command !== 'server') throw new Error('not called as a server')
const file = option.replace('--config-file=', '')
const valueOf = (name) => new RegExp('<' + name + '>(.*?)</').exec(readFileSync(file, 'utf8'))[1]
const usersFile = valueOf('users_config')
const users = readFileSync(usersFile, 'utf8')
const engineUser = '<default><no_password/><networks><ip>127.0.0.1</ip></networks></default>'
writeFileSync(usersFile, users.replace('<users>', '<users>' + engineUser))
const args = [${JSON.stringify(engine)}, valueOf('path'), file, valueOf('http_port'), '0']
const child = spawn(process.execPath, args, { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill('SIGKILL'))
child.on('exit', (code) => process.exit(code ?? 1))
`,
  )
  chmodSync(program, 0o755)
  return program
}

t.test('npm start runs a clickhouse of this machine, with its users and tables', async (t) => {
  const dataDir = createDataDir(t)
  const CLICKHOUSE_SERVER = writeStandIn(join(dataDir, 'bin'))
  const { endpoints } = await startStack(t, { dataDir, env: { CLICKHOUSE_SERVER } })
  const analyst = openClickHouse(t, { url: endpoints.analyst })
  t.match(await analyst.query('SELECT currentUser() AS user, count() FROM intake.logs'), [
    { user: 'analyst' },
  ])
  await t.rejects(analyst.query('SELECT 1 FROM intake.logs_raw'))
})
