import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createApiKeyStore } from '@intake/access'
import { commands } from '../src/commands.ts'
import { createIntakeProcess, logRow, startServices } from './services.ts'

const services = await startServices(t)
const { dataDir, endpoints, intake, keys } = services
const intakeProcess = createIntakeProcess({ cwd: dataDir, env: endpoints })
const sources = fileURLToPath(new URL('../src/', import.meta.url))

/**
 * A text that clears the screen, sets the title, changes the text direction, and contains lines
 * that look like two more records.
 */
const hostile =
  'a\u001b[2J\u001b]0;title\u0007\u009b31m\u202eb\u2066\u200b\rstored\nstored\tlogs\tforged\u{e0041}'
const harmful = /[^\P{Cc}\t\n]|[\u200b\u202a-\u202e\u2066-\u2069]|\u{e0041}/u

const row = () =>
  logRow({ bundle_identifier: hostile, unique_user_id: 'user-1', event: hostile, extra: {} })
const stored = row()
const waiting = row()
const rejected = row()
await services.insert('logs', [stored])
await services.enqueue([waiting])
await services.reject(rejected, { serverText: hostile })
await createApiKeyStore({ redis: keys }).create({ name: hostile, bundleIdentifiers: [hostile] })

/**
 * Every command that prints texts of clients or servers, and the number of lines that it prints; 0
 * if the test does not check that number. The first row of each command runs as a process, which
 * shows that the process ends.
 */
const printing: [args: string[], lines: number][] = [
  [['trace', stored.id], 1],
  [['trace', waiting.id], 1],
  [['trace', rejected.id], 1],
  [['trace', stored.id, '--json'], 1],
  [['trace', rejected.id, '--json'], 1],
  [['dead-letters', 'list'], 1],
  [['dead-letters', 'list', '--json'], 1],
  [['dead-letters', 'show', rejected.id], 0],
  [['dead-letters', 'replay', hostile], 0],
  [['keys', 'list'], 1],
  [['keys', 'list', '--json'], 1],
  [['keys', 'revoke', hostile], 0],
  [['user', 'export', 'user-1'], 3],
  [['user', 'erase', hostile], 2],
  [['user', 'unsuppress', hostile], 0],
  [['erasures', 'list'], 0],
  [['retention', 'show'], 4],
  [['rules', 'add', 'drop', '--bundle', hostile, '--event', hostile], 0],
  [['rules', 'list'], 0],
  [['rules', 'list', '--json'], 1],
  [['alerts', 'add', '--bundle', hostile, '--event', hostile, '--above', '1', '--in', '10m'], 2],
  [['alerts', 'list'], 1],
  [['alerts', 'list', '--json'], 1],
  [['alerts', 'show', hostile], 0],
  [['alerts', 'remove', hostile], 0],
  [['tail', '--device', hostile], 0],
  [['catalogue', 'refresh'], 0],
  [['queue', 'pause', '--json'], 1],
  [['queue', 'resume'], 3],
  [['status', '--gateway', `http://127.0.0.1:1/${hostile}`], 0],
  [['doctor', '--json'], 1],
  [['setup'], 1],
  [['sandbox', '--port', '0', '--host', hostile], 0],
  [['purge', '--api-key', hostile, '--from', hostile, '--to', hostile], 0],
  [['env', '--json'], 0],
  [['journal'], 0],
  [['analysts', 'create', hostile, '--bundle', hostile], 0],
  [['analysts', 'create', 'mobile', '--bundle', hostile], 0],
  [['analysts', 'list'], 0],
  [['export', '--to', `s3:${hostile}`], 0],
  [['import', hostile, '--map', hostile, '--bundle', hostile], 0],
  [['connect', hostile], 0],
  [['demo', '--remove'], 0],
  [[hostile], 0],
  [['device', 'export', hostile], 0],
]

t.test('no command writes past the printer', async (t) => {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  const writing = files.filter((name) => {
    if (!name.endsWith('.ts')) return false
    const text = readFileSync(join(sources, name), 'utf8')
    return /\bconsole\.\w|\bstdout\.write|\bstderr\.write|\bwriteSync\(|process\._raw/.test(text)
  })
  t.same(writing, ['print.ts'])
})

t.test('no command prints what a terminal obeys, or lines that a client made', async (t) => {
  const named = new Set(printing.map(([[name]]) => name))
  const others = Object.keys(commands).filter((name) => !named.has(name))
  t.same(others, [], 'all commands are tried')
  const ended = new Set<string | undefined>()
  for (const [args, lines] of printing) {
    const name = args.join(' ').slice(0, 40)
    const { stdout, stderr } = await (ended.has(args[0]) ? intake : intakeProcess)(args)
    ended.add(args[0])
    t.notMatch(stdout, harmful, name)
    t.notMatch(stderr, harmful, name)
    t.notMatch(stdout + stderr, /^stored\tlogs\tforged/m, name)
    if (lines > 0) t.equal(stdout.trimEnd().split('\n').length, lines, `${name}: ${stdout}`)
    if (args.includes('--json') && stdout !== '') JSON.parse(stdout)
  }
  const traced = await intake(['trace', stored.id, '--json'])
  t.match(JSON.parse(traced.stdout), { records: [{ bundle_identifier: hostile }] }, 'unchanged')
  const shown = await intake(['dead-letters', 'show', rejected.id])
  t.match(JSON.parse(shown.stdout), { id: rejected.id })
})

t.test('exported files are as harmless, and have the same values', async (t) => {
  const folder = t.testdir()
  await intake(['user', 'export', 'user-1', '--out', folder])
  const lines = readFileSync(join(folder, 'records.jsonl'), 'utf8').trimEnd().split('\n')
  t.equal(lines.length, 3)
  t.notMatch(lines.join('\n'), harmful)
  t.ok(lines.some((line) => (JSON.parse(line) as typeof stored).bundle_identifier === hostile))
})
