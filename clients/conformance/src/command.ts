import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { AdapterError, capabilities } from './adapter.ts'
import { cases } from './cases/index.ts'
import { printCase, printSummary } from './print.ts'
import { runConformance } from './run.ts'

const usage = `Usage: intake-conformance --adapter <url> [--only <text>] [--json <file>]
       intake-conformance --list

Judges a sender of Intake by what a server sees and stores of it (docs/conformance.md).
  --adapter <url>  the adapter of the sender, for example http://127.0.0.1:4000
  --only <text>    only the cases whose titles contain this text
  --json <file>    also write the results there
  --list           print the cases and what they need
Exit codes: 0 no case failed, 1 a case failed or the adapter could not be used.`

/** Runs the command with these arguments. Resolves to its exit code. */
export async function runCommand(args: string[]): Promise<number> {
  try {
    return await run(args)
  } catch (error) {
    console.error(error instanceof AdapterError ? error.message : error)
    return 1
  }
}

async function run(args: string[]): Promise<number> {
  const options = readOptions(args)
  if (options === undefined) return 1
  if (options.help) {
    console.log(usage)
    return 0
  }
  if (options.list) {
    for (const { title, needs = [] } of cases) {
      console.log(needs.length > 0 ? `${title} (${needs.join(', ')})` : title)
    }
    console.log(`\n${cases.length} cases. In parentheses: what a sender must have.`)
    for (const [name, meaning] of Object.entries(capabilities)) console.log(`  ${name}: ${meaning}`)
    return 0
  }
  const result = await runConformance({
    adapter: options.adapter,
    ...(options.only !== undefined && { only: options.only }),
    onResult: (one) => console.log(printCase(one)),
  })
  if (result.results.length === 0) {
    console.error(`No case has "${options.only}" in its title.`)
    return 1
  }
  console.log(`\n${printSummary(result)}`)
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify(result, undefined, 2)}\n`)
  }
  return result.results.some(({ outcome }) => outcome === 'failed') ? 1 : 0
}

interface Options {
  adapter: string
  only: string | undefined
  json: string | undefined
  list: boolean
  help: boolean
}

/** Parses the command line. If it is wrong, prints a message and returns undefined. */
function readOptions(args: string[]): Options | undefined {
  try {
    const { values } = parseArgs({
      args,
      options: {
        adapter: { type: 'string' },
        only: { type: 'string' },
        json: { type: 'string' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    const { adapter = '', only, json, list, help } = values
    if (help || list || URL.canParse(adapter)) return { adapter, only, json, list, help }
    console.error(`--adapter must be a URL.\n\n${usage}`)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
  }
  return undefined
}
