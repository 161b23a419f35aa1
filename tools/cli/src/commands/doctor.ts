import { visibleLine } from '@intake/runtime'
import { Option, type Command } from 'commander'
import { examine, type Examination } from '../doctor/examine.ts'
import type { Finding } from '../doctor/finding.ts'
import { findEndpoint, folderOfClickHouse } from '../endpoints.ts'
import { decimal, numberOption } from '../option-values.ts'
import { exitCodeHelp, exitCodes, stateOf } from '../state.ts'
import { print, printJson } from '../print.ts'

interface DoctorFlags {
  json?: boolean
  diskFree: number
}

const guide = `
Examines, and changes nothing:
  Redis        can it be written to, could it or its replicas lose records, memory, version
  ClickHouse   version, tables and views of this version of Intake, settings, free disk
  bucket       puts, gets, lists and removes a small object
  clocks       of Redis, ClickHouse and this machine
  settings     of gateway and worker in this environment, and those that running processes must share
Each finding has the code that status and alerts use, what to change, and a page that says more.

Examples:
  intake doctor
  env $(cat gateway.env) intake doctor --json     with the settings of a gateway

${exitCodeHelp}`

export function define(doctor: Command): void {
  doctor
    .option('--json', 'print state and findings as JSON')
    .addOption(
      new Option('--disk-free <percent>', 'how much of each disk of ClickHouse must be free')
        .default(10)
        .argParser(
          numberOption({
            min: 0,
            max: 100,
            pattern: decimal,
            message: 'Give a number from 0 to 100.',
          }),
        ),
    )
    .addHelpText('after', guide)
    .action(async (flags: DoctorFlags) => {
      const clickhouseUrl = await findEndpoint('CLICKHOUSE_URL')
      const examination = await examine({
        redisUrl: await findEndpoint('REDIS_URL'),
        clickhouseUrl,
        s3Endpoint: await findEndpoint('S3_ENDPOINT'),
        freeShareMin: flags.diskFree / 100,
        dataDir: await folderOfClickHouse(clickhouseUrl),
        env: process.env,
      })
      const { findings } = examination
      const state = stateOf(findings)
      if (flags.json) printJson({ state, findings })
      else print(describe(examination))
      process.exitCode = exitCodes[state]
    })
}

function describe({ findings, examined }: Examination): string {
  const summary = `Examined: ${examined.join(', ')}.`
  if (findings.length === 0) return `Nothing is wrong. ${summary}`
  const count = findings.length === 1 ? 'One finding.' : `${findings.length} findings.`
  return [...findings.map(describeFinding), `${count} ${summary}`].join('\n\n')
}

function describeFinding({ code, detail, change, help }: Finding): string {
  return [code, `  ${visibleLine(detail)}`, `  Change: ${change}`, `  ${help}`].join('\n')
}
