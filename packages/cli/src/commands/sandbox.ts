import { once } from 'node:events'
import { createSandbox } from '@intake/sandbox'
import { InvalidArgumentError, type Command } from 'commander'
import { note, print } from '../print.ts'

/** `intake sandbox`: starts a gateway that keeps records in memory, for tests of apps. */
export function defineSandbox(sandbox: Command): void {
  sandbox
    .option('--port <number>', 'the port to listen on; 0 picks a free one', readPort, 3100)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .addHelpText(
      'after',
      `
It needs no services, and forgets everything when it ends.
  GET /_sandbox/records    what is stored; ?min=3&timeoutMs=5000 waits for three records
  POST /_sandbox/faults    what goes wrong next, for example {"status": 503, "times": 2}
  DELETE /_sandbox         empties records and faults
docs/sandbox.md has all faults.`,
    )
    .action(async ({ host, port }: { host: string; port: number }) => {
      const running = await createSandbox({ host, port })
      print(`Intake sandbox at ${running.url} with the API key ${running.apiKey}`)
      note('Ctrl-C ends it.')
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
      await running.close()
    })
}

function readPort(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('It must be from 0 to 65535.')
}
