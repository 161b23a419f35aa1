import { hash, randomBytes } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JournalAction } from '@intake/access'
import type { ClickHouse } from '@intake/clickhouse'
import { bundlePattern } from '@intake/contract'
import {
  analystName,
  databaseOf,
  defineAnalyst,
  definerOf,
  dropAnalyst,
  findAnalyst,
  readAnalysts,
  removable,
  replaceable,
  rightsSql,
  rightsXml,
  writeAnalyst,
  type Analyst,
} from '@intake/schema'
import { InvalidArgumentError, type Command } from 'commander'
import { findClickHouse, withClickHouse } from '../clickhouse.ts'
import { folderOfClickHouse, UsageError } from '../endpoints.ts'
import { noteChange } from '../journal.ts'
import { note, print, printJson, printRow } from '../print.ts'
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
Columns to replace by a keyed hash, by which tables can still be joined: ${replaceable.join(', ')}.`

const timeoutMs = 60_000

export function define(analysts: Command): void {
  analysts.addHelpText('after', guide)
  defineChanges(analysts)
  defineReads(analysts)
}

function defineChanges(analysts: Command): void {
  addScope(analysts.command('create').argument('<name>', 'of the analyst', parseName))
    .description('create an analyst, and show the password once')
    .option('--json', 'print user, password and database as JSON')
    .action((name: string, options: Options) =>
      withPatience(async (clickhouse) => {
        if (options.bundle === undefined) throw new UsageError('Name an application (--bundle).')
        if (await findAnalyst(clickhouse, name)) {
          throw new UsageError(`There is an analyst ${name}: use set or password.`)
        }
        const scope = scopeOf(options, { bundles: [], without: [], pseudonyms: [] })
        await giveNewPassword(clickhouse, { name, ...scope }, 'analyst-created', options.json)
      }),
    )
  addScope(analysts.command('set <name>'))
    .description('change what an analyst sees; options that are not given stay')
    .action((name: string, options: Options) =>
      change(name, async (clickhouse, before) => {
        if (Object.keys(options).length === 0) throw new UsageError('There is nothing to change.')
        const analyst = { ...before, ...scopeOf(options, before) }
        await store(clickhouse, analyst, 'analyst-set')
        print(`Changed ${databaseOf(before)}.`)
      }),
    )
  analysts
    .command('password <name>')
    .description('give an analyst a new password, and show it once')
    .option('--json', 'print user, password and database as JSON')
    .action((name: string, { json }: Options) =>
      change(name, (clickhouse, analyst) =>
        giveNewPassword(clickhouse, analyst, 'analyst-password-set', json),
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
        for (const { bundles, without, pseudonyms, ...one } of all) {
          const names = [bundles, without, pseudonyms].map((some) => some.join(' ') || '-')
          printRow([databaseOf(one), ...names])
        }
      }),
    )
  analysts
    .command('show <name>')
    .description('show an analyst, and the SQL that makes the users')
    .option('--xml', 'print the file for the folder users.d of ClickHouse that makes the users')
    .option('--json', 'print the definition as JSON')
    .action((name: string, { xml, json }: { xml?: boolean; json?: boolean }) =>
      change(name, ({ cluster }, analyst) => {
        if (json) return printJson(describe(analyst))
        if (xml) return print(rightsXml(analyst, undefined, cluster).trimEnd())
        print(`-- ${JSON.stringify(describe(analyst))}`)
        for (const statement of rightsSql(analyst, cluster)) print(`${statement};`)
      }),
    )
}

const addScope = (command: Command) =>
  command
    .option('--bundle <identifiers...>', 'applications, such as com.example.*', parseBundles)
    .option('--without <columns>', 'columns to leave out: email,text', columnParser(removable))
    .option('--pseudonym <columns>', 'columns to replace by a hash', columnParser(replaceable))

function parseName(name: string): string {
  if (analystName.test(name)) return name
  throw new InvalidArgumentError(
    'A name has 1 to 31 characters: small letters, digits and _, first a letter, not dbt.',
  )
}

function parseBundles(bundle: string, before: readonly string[] = []): string[] {
  if (bundlePattern.test(bundle)) return [...before, bundle]
  throw new InvalidArgumentError('Name a bundle identifier, or a beginning like com.example.*.')
}

/** A part of a column, such as `params.email`, is no column: rules remove or hash it. */
const columnParser = (allowed: readonly string[]) => (text: string) => {
  const columns = text.split(',').filter(Boolean)
  if (columns.every((column) => allowed.includes(column))) return columns
  throw new InvalidArgumentError(`Choose from ${allowed.join(', ')}.`)
}

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

async function giveNewPassword(
  clickhouse: ClickHouse,
  analyst: Omit<Analyst, 'passwordSha256'>,
  action: JournalAction,
  json = false,
): Promise<void> {
  const password = randomBytes(24).toString('base64url')
  await store(clickhouse, { ...analyst, passwordSha256: hash('sha256', password) }, action)
  const database = databaseOf(analyst)
  const login = { user: database, password, database }
  if (json) return printJson(login)
  for (const [what, value] of Object.entries(login)) print(`${what}\t${value}`)
}

/** Stores a definition and applies it, as far as the owner may. Says what is left to do. */
async function store(
  clickhouse: ClickHouse,
  analyst: Analyst,
  action: JournalAction,
): Promise<void> {
  await noteAnalyst(analyst, action)
  await writeAnalyst(clickhouse, analyst)
  const file = await findUserFile(analyst)
  if (file !== undefined) {
    await writeFile(`${file}.part`, rightsXml(analyst, '127.0.0.1'), { mode: 0o600 })
    await rename(`${file}.part`, file)
  }
  if (await defineAnalyst(clickhouse, analyst)) return
  note(file === undefined ? administratorMakesUsers(analyst) : startAgain)
}

const startAgain =
  'It holds when npm start has been started again. With file(), users of its own engine can read all its data: ' +
  'docs/analysts.md.'

const administratorMakesUsers = ({ name }: Analyst) =>
  "ClickHouse's user of CLICKHOUSE_URL may not make users. An administrator runs the SQL that intake analysts show " +
  `${name} prints (or takes the file, with --xml), then run intake setup.`

async function remove(clickhouse: ClickHouse, analyst: Analyst): Promise<void> {
  await noteAnalyst(analyst, 'analyst-removed')
  const isGone = await dropAnalyst(clickhouse, analyst)
  const file = await findUserFile(analyst)
  if (file !== undefined) await rm(file, { force: true })
  await writeAnalyst(clickhouse, analyst, { isRemoved: true })
  print(`Removed ${databaseOf(analyst)}.`)
  if (isGone || file !== undefined) return
  note(
    `The views are gone. An administrator drops ${databaseOf(analyst)} and ${definerOf(analyst)}.`,
  )
}

/** The file with the users, if the ClickHouse is that of `npm start`: it reads it when it starts. */
async function findUserFile(analyst: Analyst): Promise<string | undefined> {
  const folder = await folderOfClickHouse((await findClickHouse()).url)
  if (folder === undefined) return undefined
  const users = join(folder, 'config', 'users.d')
  await mkdir(users, { recursive: true, mode: 0o700 })
  return join(users, `${databaseOf(analyst)}.xml`)
}

/** The entry has what the analyst may see, but no password. */
const noteAnalyst = (analyst: Analyst, action: JournalAction) =>
  withRedis((redis) =>
    noteChange(redis, { action, subject: analyst.name, detail: scopeOf({}, analyst) }),
  )

const withPatience = (work: (clickhouse: ClickHouse) => Promise<void>) =>
  withClickHouse(work, { requestTimeoutMs: timeoutMs })

const change = (
  name: string,
  work: (clickhouse: ClickHouse, analyst: Analyst) => Promise<void> | void,
) =>
  withPatience(async (clickhouse) => {
    const analyst = await findAnalyst(clickhouse, name)
    if (analyst === undefined) throw new UsageError(`There is no analyst ${name}.`)
    await work(clickhouse, analyst)
  })
