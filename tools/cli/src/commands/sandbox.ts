import { once } from 'node:events'
import { loopbackOrigins, parseCorsOrigins } from '@intake/config'
import { createSandbox } from '@intake/sandbox'
import { InvalidArgumentError, type Command } from 'commander'
import { numberOption } from '../option-values.ts'
import { note, print } from '../print.ts'

const parsePort = numberOption({ min: 0, max: 65_535, message: 'It must be from 0 to 65535.' })

export function define(sandbox: Command): void {
  sandbox
    .option('--port <number>', 'the port to listen on; 0 picks a free one', parsePort, 3100)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option(
      '--origin <origin...>',
      'origins whose pages and host names may use it, besides those of this machine',
      readOrigins,
      [],
    )
    .addHelpText(
      'after',
      `
It needs no services, and forgets everything when it ends.
  GET /_sandbox/records    what is stored; ?min=3&timeoutMs=5000 waits for three records
  POST /_sandbox/faults    what goes wrong next, for example {"status": 503, "times": 2}
  DELETE /_sandbox         empties records and faults
docs/sandbox.md has all faults.`,
    )
    .action(async (options: { host: string; port: number; origin: string[] }) => {
      const { host, port, origin: origins } = options
      const running = await createSandbox({ host, port, origins })
      print(`Intake sandbox at ${running.url} with the API key ${running.apiKey}`)
      note('Ctrl-C ends it.')
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
      await running.close()
    })
}

function readOrigins(text: string, before: readonly string[]): string[] {
  try {
    parseCorsOrigins(`${loopbackOrigins},${text}`)
  } catch {
    throw new InvalidArgumentError('It must be an origin, such as http://sandbox:3100.')
  }
  return [...before, text]
}
