import { visibleLine } from '@intake/runtime'
import type { Command } from 'commander'
import { examine } from '../doctor/examine.ts'
import type { Finding } from '../doctor/finding.ts'
import { findEndpoint } from '../endpoints.ts'
import { exitCodeHelp, exitCodes, stateOf } from '../state.ts'
import { print, printJson } from '../print.ts'

const guide = `
Examines, and changes nothing:
  Redis        can it be written to, could it or its replicas lose records, memory, version
  ClickHouse   version, tables and views of this version of Intake, settings, whether a tenth of each disk is free
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
    .addHelpText('after', guide)
    .action(async (flags: { json?: boolean }) => {
      const findings = await examine({
        redisUrl: await findEndpoint('REDIS_URL'),
        clickhouseUrl: await findEndpoint('CLICKHOUSE_URL'),
        s3Endpoint: await findEndpoint('S3_ENDPOINT'),
        env: process.env,
      })
      const state = stateOf(findings)
      if (flags.json) printJson({ state, findings })
      else print(findings.map(describeFinding).join('\n\n') || 'Nothing is wrong.')
      process.exitCode = exitCodes[state]
    })
}

function describeFinding({ code, detail, change, help }: Finding): string {
  return [code, `  ${visibleLine(detail)}`, `  Change: ${change}`, `  ${help}`].join('\n')
}
