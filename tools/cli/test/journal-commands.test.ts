import { Command } from 'commander'
import t from 'tap'
import { journalActions, type JournalAction } from '@intake/access'
import { commands, define } from '../src/commands.ts'

const nothing = 'changes nothing'
/** Adds values that follow from the stored records; a worker does the same by itself. */
const derived = 'derived'

/** What each command leaves in the journal. A new command is named here. */
const named: Record<string, JournalAction | typeof nothing | typeof derived> = {
  status: nothing,
  doctor: nothing,
  tail: nothing,
  trace: nothing,
  'queue pause': 'queue-paused',
  'queue resume': 'queue-resumed',
  'dead-letters list': nothing,
  'dead-letters show': nothing,
  'dead-letters replay': 'dead-letters-replayed',
  'dead-letters drop': 'dead-letters-dropped',
  'keys create': 'key-created',
  'keys list': nothing,
  'keys show': nothing,
  'keys set': 'key-set',
  'keys suspend': 'key-suspended',
  'keys resume': 'key-resumed',
  'keys revoke': 'key-revoked',
  'rules add': 'rule-added',
  'rules list': nothing,
  'rules remove': 'rule-removed',
  'rules test': nothing,
  'alerts add': 'alert-added',
  'alerts list': nothing,
  'alerts show': nothing,
  'alerts remove': 'alert-removed',
  'alerts test': nothing,
  journal: nothing,
  'analysts create': 'analyst-created',
  'analysts set': 'analyst-set',
  'analysts password': 'analyst-password-set',
  'analysts list': nothing,
  'analysts show': nothing,
  'analysts remove': 'analyst-removed',
  export: 'records-exported',
  import: 'records-imported',
  connect: nothing,
  'user export': 'subject-exported',
  'user erase': 'erasure-begun',
  'user unsuppress': 'sender-unsuppressed',
  'device export': 'subject-exported',
  'device erase': 'erasure-begun',
  'device unsuppress': 'sender-unsuppressed',
  purge: 'erasure-begun',
  'erasures list': nothing,
  'erasures apply': 'erasure-begun',
  'retention set': 'retention-set',
  'retention show': nothing,
  'retention apply': 'retention-applied',
  'catalogue refresh': derived,
  setup: 'redis-loss-accepted',
  // Also what keys and erasures leave.
  demo: 'key-created',
  sandbox: nothing,
  env: nothing,
}

const pathsOf = (command: Command, path: string): string[] =>
  command.commands.length === 0
    ? [path]
    : command.commands.flatMap((one) => pathsOf(one, `${path} ${one.name()}`))

t.test('every command says what it leaves in the journal', async (t) => {
  const found: string[] = []
  for (const name of Object.keys(commands)) {
    const command = new Command(name)
    await define(command, name)
    found.push(...pathsOf(command, name))
  }
  t.same(found.toSorted(), Object.keys(named).toSorted())
})

t.test('every action is that of a command', async (t) => {
  const used = new Set<string>([...Object.values(named), 'sender-suppressed'])
  const others = Object.keys(journalActions).filter((action) => !used.has(action))
  t.same(others, [])
})

t.test('every command that lists or shows something has --json', async (t) => {
  const without: string[] = []
  for (const name of Object.keys(commands)) {
    const command = new Command(name)
    await define(command, name)
    const shows = /^(list|show|status|doctor|tail|trace|journal|env)$/
    for (const one of [command, ...command.commands]) {
      const isWithout = !one.options.some(({ long }) => long === '--json')
      if (shows.test(one.name()) && isWithout) without.push(`${name} ${one.name()}`)
    }
  }
  t.same(without, [])
})
