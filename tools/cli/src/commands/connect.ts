import type { Command } from 'commander'
import { toolsFor, type Access } from '../connect/tools.ts'
import { runningStack, UsageError } from '../endpoints.ts'
import { note, print } from '../print.ts'

const hidden = 'PASSWORD'

export function define(connect: Command): void {
  connect
    .argument('[tool]', 'such as grafana or python; default: all')
    .option('--url <url>', 'ClickHouse, with the user; default: the analyst of npm start')
    .option('--show-password', 'print the password, too')
    .addHelpText(
      'after',
      `
Example for a server: intake connect grafana --url https://analyst@clickhouse.example.com:8443
docs/connect.md says what each tool can and cannot read.`,
    )
    .action(async (name: string | undefined, flags: { url?: string; showPassword?: boolean }) => {
      const access = parseAccess(flags.url ?? (await urlOfAnalyst()))
      const tools = toolsFor(flags.showPassword ? access : { ...access, password: hidden })
      if (name === undefined) {
        for (const [tool, text] of Object.entries(tools)) print(`# ${tool}. ${text}\n`)
      } else if (tools[name] === undefined) {
        throw new UsageError(`There is no tool ${name}: ${Object.keys(tools).join(', ')}.`)
      } else print(`# ${tools[name]}\n`)
      if (!flags.showPassword) note(`--show-password prints the password instead of ${hidden}.`)
    })
}

async function urlOfAnalyst(): Promise<string> {
  const stack = await runningStack()
  if (stack === undefined)
    throw new UsageError('No stack of npm start is running: give --url, with the user.')
  return stack.analyst
}

/** @throws {UsageError} if the text is no URL of a server, or names no user */
function parseAccess(text: string): Access {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username === '')
    throw new UsageError('--url must be like https://analyst@clickhouse.example.com:8443.')
  const isSecure = url.protocol === 'https:'
  return {
    host: url.hostname,
    port: Number(url.port) || (isSecure ? 443 : 80),
    user: decodeURIComponent(url.username),
    password: url.password === '' ? hidden : decodeURIComponent(url.password),
    isSecure,
  }
}
