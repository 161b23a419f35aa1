import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { createLogger } from '../src/logger.ts'

t.test('a log that goes to no terminal does not load pino-pretty', async (t) => {
  const { cache } = createRequire(import.meta.url)
  createLogger({ name: 'test', level: 'info', destination: { write: () => undefined } })
  const loaded = Object.keys(cache)
  t.ok(loaded.some((file) => file.includes('/pino/')))
  const found = loaded.filter((file) => file.includes('/pino-pretty/'))
  t.same(found, [])
})

t.test('only type, message, code, stack and cause of an error are logged', async (t) => {
  const lines: string[] = []
  const log = createLogger({
    name: 'test',
    level: 'info',
    destination: { write: (line) => void lines.push(line) },
  })
  // ioredis attaches commands to its errors, and Node attaches URLs. Both can contain passwords.
  const reply = Object.assign(new Error('WRONGPASS'), {
    command: { args: ['AUTH', 'the-password'] },
  })
  const url = Object.assign(new TypeError('Invalid URL'), {
    code: 'ERR_INVALID_URL',
    input: 'https://key:the-password@host',
  })
  log.error({ err: new Error('cannot start', { cause: url }) })
  log.error({ err: reply })
  t.match(JSON.parse(lines[0] ?? ''), {
    err: { message: 'cannot start', cause: { type: 'TypeError', code: 'ERR_INVALID_URL' } },
  })
  t.match(JSON.parse(lines[1] ?? ''), { err: { message: 'WRONGPASS' } })
  t.notMatch(lines.join(''), 'the-password')
})

const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

t.test(
  'in a terminal lines are for people, elsewhere they are JSON',
  { skip: hasTerminal ? false : 'script opens the terminal' },
  async (t) => {
    const program = fileURLToPath(new URL('log-a-line.mjs', import.meta.url))
    const file = spawnSync(process.execPath, [program], { encoding: 'utf8' }).stdout
    t.match(JSON.parse(file), { level: 30, name: 'test', msg: 'ready', port: 80 })
    const env = { ...process.env, NODE: process.execPath, PROGRAM: program }
    const args = ['-qec', '"$NODE" "$PROGRAM"', '/dev/null']
    const terminal = spawnSync('script', args, { encoding: 'utf8', env })
    const plain = stripVTControlCharacters(terminal.stdout)
    t.match(plain, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO \(test\): ready\r?\n {4}port: 80/m)
  },
)

const disk = mkdtempSync(join(tmpdir(), 'intake-log-'))
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]).status === 0
t.teardown(() => {
  if (mounted) spawnSync('umount', [disk])
  rmSync(disk, { recursive: true })
})

t.test(
  'a process whose log disk is full keeps running in bounded memory, and logs when there is room',
  { skip: mounted ? false : 'no small disk can be mounted' },
  async (t) => {
    writeFileSync(join(disk, 'filler'), Buffer.alloc(900 * 1024))
    const logFile = join(disk, 'log')
    const log = openSync(logFile, 'a')
    const program = fileURLToPath(new URL('log-until-room.mjs', import.meta.url))
    const child = spawn(process.execPath, [program, join(disk, 'filler')], {
      stdio: ['ignore', log, 'pipe'],
    })
    closeSync(log)
    let errors = ''
    child.stderr?.on('data', (chunk) => (errors += chunk))
    const [code] = await once(child, 'close')
    t.equal(code, 0, errors)
    const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n')
    t.match(lines.at(-1), 'there is room again')
  },
)
