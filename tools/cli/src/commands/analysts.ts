import { hash, randomBytes } from 'node:crypto'
import type { JournalAction } from '@intake/access'
import {
  databaseOf,
  defineAnalyst,
  dropAnalyst,
  findAnalyst,
  findAnalystFaults,
  readAnalysts,
  removable,
  removalSql,
  replaceable,
  rightsSql,
  rightsXml,
  writeAnalyst,
  type Analyst,
} from '@intake/schema'
import type { ClickHouse } from '@intake/clickhouse'
import { visibleLine } from '@intake/runtime'
import type { Command } from 'commander'
import { removeUserFile, writeUserFile } from '../analysts/user-file.ts'
import { withClickHouse } from '../clickhouse.ts'
import { UsageError } from '../endpoints.ts'
import { noteChange } from '../journal.ts'
import { note, print, printForShell, printJson } from '../print.ts'
import { formatTable } from '../table.ts'
import { withRedis } from '../with-redis.ts'

interface Options {
  bundle?: string[]
  without?: string[]
  pseudonym?: string[]
  json?: boolean
}

const guide = `
The analyst NAME logs in as intake_NAME and reads the database intake_NAME, which has the views of docs/queries.md for
these applications only. Rows are limited by row policies, columns by rights.

Columns to leave out: ${removable.join(', ')}.
Columns to replace by a keyed hash, by which tables can still be joined: ${replaceable.join(', ')}.

Examples:
  intake analysts create mobile --bundle 'com.example.*' --without email,text --pseudonym unique_user_id,device_uuid
  intake analysts set mobile --bundle com.example.app
  intake analysts show mobile --sql`

const timeoutMs = 60_000

export function define(analysts: Command): void {
  analysts.addHelpText('after', guide)
  defineChanges(analysts)
  defineReads(analysts)
}

function defineChanges(analysts: Command): void {
  addScope(
    analysts.command('create <name>').description('create an analyst, and show the password once'),
  )
    .option('--json', 'print user, password and database as JSON')
    .action((name: string, options: Options) =>
      patiently((clickhouse) => create(clickhouse, name, options)),
    )
  addScope(
    analysts
      .command('set <name>')
      .description('change what an analyst sees; options that are not given stay'),
  ).action((name: string, options: Options) =>
    change(name, async (clickhouse, before) => {
      if (Object.keys(options).length === 0) throw new UsageError('There is nothing to change.')
      const analyst = { ...before, ...scopeOf(options, before) }
      await store(clickhouse, analyst, { action: 'analyst-set', before })
      print(`Changed ${databaseOf(before)}.`)
    }),
  )
  analysts
    .command('password <name>')
    .description('give an analyst a new password, and show it once')
    .option('--json', 'print user, password and database as JSON')
    .action((name: string, { json }: Options) =>
      change(name, (clickhouse, before) =>
        giveNewPassword(clickhouse, before, 'analyst-password-set', json),
      ),
    )
  analysts
    .command('remove <name>')
    .description("remove an analyst's views and users; records stay")
    .action((name: string) => change(name, remove))
}

function defineReads(analysts: Command): void {
  analysts
    .command('list')
    .description('list the analysts')
    .option('--json', 'print them as JSON')
    .action(({ json }: Options) =>
      withClickHouse(async (clickhouse) => {
        const all = await readAnalysts(clickhouse)
        if (json) return printJson(all.map(describe))
        if (all.length === 0) return note('There are no analysts.')
        const cells = all.map(({ bundles, without, pseudonyms, ...one }) => [
          databaseOf(one),
          ...[bundles, without, pseudonyms].map((names) => names.join(' ') || '-'),
        ])
        print(formatTable([['USER', 'APPLICATIONS', 'WITHOUT', 'PSEUDONYMS'], ...cells]))
      }),
    )
  analysts
    .command('show <name>')
    .description('show an analyst, with the users as SQL or as a file for users.d')
    .option('--sql', 'print only the SQL that makes the users')
    .option('--xml', 'print only the file that makes the users')
    .option('--json', 'print the definition as JSON')
    .action((name: string, options: Options & { sql?: boolean; xml?: boolean }) =>
      change(name, (clickhouse, analyst) => {
        const sql = printable(rightsSql(analyst, clickhouse.cluster))
        const xml = rightsXml(analyst, undefined, clickhouse.cluster).trimEnd()
        if (options.sql) return printForShell(sql)
        if (options.xml) return printForShell(xml)
        if (options.json) return printJson(describe(analyst))
        for (const [what, value] of Object.entries(describe(analyst))) {
          print(`${what}\t${[value].flat().join(' ') || '-'}`)
        }
        print('\nUsers as SQL, then as a file for the folder users.d of ClickHouse:\n')
        print(`${sql}\n\n${xml}`)
      }),
    )
}

const addScope = (command: Command) =>
  command
    .option(
      '--bundle <identifiers...>',
      'applications; com.example.* is com.example. and what follows',
    )
    .option('--without <columns>', 'columns to leave out, with commas between them', parseColumns)
    .option(
      '--pseudonym <columns>',
      'columns to replace by a keyed hash, with commas between them',
      parseColumns,
    )

const parseColumns = (text: string) =>
  text
    .split(',')
    .map((column) => column.trim())
    .filter(Boolean)

type Scope = Pick<Analyst, 'bundles' | 'without' | 'pseudonyms'>

const scopeOf = ({ bundle, without, pseudonym }: Options, preset: Scope): Scope => ({
  bundles: bundle ?? preset.bundles,
  without: without ?? preset.without,
  pseudonyms: pseudonym ?? preset.pseudonyms,
})

const describe = (analyst: Analyst) => ({
  name: analyst.name,
  user: databaseOf(analyst),
  database: databaseOf(analyst),
  ...scopeOf({}, analyst),
})

async function create(clickhouse: ClickHouse, name: string, options: Options): Promise<void> {
  const scope = scopeOf(options, { bundles: [], without: [], pseudonyms: [] })
  const existing = await findAnalyst(clickhouse, name)
  // The same definition again finishes what was interrupted.
  if (existing && JSON.stringify(scopeOf({}, existing)) !== JSON.stringify(scope)) {
    throw new UsageError(`There is an analyst ${name}: change it with intake analysts set ${name}.`)
  }
  const analyst = { name, ...scope, passwordSha256: '' }
  await giveNewPassword(clickhouse, analyst, 'analyst-created', options.json)
}

type AnalystAction = Extract<JournalAction, `analyst-${string}`>

async function giveNewPassword(
  clickhouse: ClickHouse,
  analyst: Analyst,
  action: AnalystAction,
  json = false,
): Promise<void> {
  const password = randomBytes(24).toString('base64url')
  await store(clickhouse, { ...analyst, passwordSha256: hash('sha256', password) }, { action })
  const database = databaseOf(analyst)
  const login = { user: database, password, database }
  if (json) return printJson(login)
  for (const [what, value] of Object.entries(login)) print(`${what}\t${value}`)
}

interface Change {
  action: AnalystAction
  before?: Analyst
}

/** Stores a definition and applies it, as far as the owner may. Says what is left to do. */
async function store(clickhouse: ClickHouse, analyst: Analyst, change: Change): Promise<void> {
  const faults = [
    ...findAnalystFaults(analyst),
    // The SQL for an administrator is printed as it is.
    ...analyst.bundles
      .filter((bundle) => visibleLine(bundle) !== bundle)
      .map((bundle) => `${bundle} has characters that cannot be seen`),
  ]
  if (faults.length > 0) throw new UsageError(`${faults.join('; ')}.`)
  await noteAnalyst(analyst, change)
  await writeAnalyst(clickhouse, analyst)
  const isEmbedded = await writeUserFile(analyst)
  const isDefined = await defineAnalyst(clickhouse, analyst)
  if (isEmbedded) {
    note("With file(), users of npm start's own engine can read all its data: docs/analysts.md.")
  }
  if (isDefined) return
  note(
    "ClickHouse's user of CLICKHOUSE_URL may not make users. An administrator runs this (or takes intake analysts " +
      `show ${analyst.name} --xml), then run intake setup:`,
  )
  note(printable(rightsSql(analyst, clickhouse.cluster)))
}

async function remove(clickhouse: ClickHouse, analyst: Analyst): Promise<void> {
  await noteAnalyst(analyst, { action: 'analyst-removed' })
  const isGone = (await dropAnalyst(clickhouse, analyst)) || (await removeUserFile(analyst))
  await writeAnalyst(clickhouse, analyst, { isRemoved: true })
  print(`Removed ${databaseOf(analyst)}.`)
  if (isGone) return
  note(
    'The views are gone. The users are left: remove their file from users.d, or run as administrator:',
  )
  note(printable(removalSql(analyst, clickhouse.cluster)))
}

/** The entry has what the analyst may see, and what before, but no password. */
const noteAnalyst = (analyst: Analyst, { action, before }: Change) => {
  const detail = { ...scopeOf({}, analyst), ...(before && { before: scopeOf({}, before) }) }
  return withRedis((redis) => noteChange(redis, { action, subject: analyst.name, detail }))
}

const patiently = (work: (clickhouse: ClickHouse) => Promise<void>) =>
  withClickHouse(work, { requestTimeoutMs: timeoutMs })

const change = (
  name: string,
  work: (clickhouse: ClickHouse, analyst: Analyst) => Promise<void> | void,
) =>
  patiently(async (clickhouse) => {
    const analyst = await findAnalyst(clickhouse, name)
    if (analyst === undefined) throw new UsageError(`There is no analyst ${name}.`)
    await work(clickhouse, analyst)
  })

const printable = (statements: readonly string[]) =>
  statements.map((statement) => `${statement};`).join('\n')
