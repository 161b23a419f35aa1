import { ConfigError } from '@intake/runtime'
import { SetupError } from '@intake/setup'
import { messageOf, onEndRequest, StartError } from '@intake/supervisor'
import { readConfig } from './config.ts'
import { createStack } from './stack.ts'
import { welcome } from './welcome.ts'

const say = (line: string) => console.log(line)

// Nobody may be reading any more (`npm start | head`); that is no reason to end.
process.stdout.on('error', () => undefined)
process.stderr.on('error', () => undefined)

try {
  await run()
} catch (error) {
  console.error(explain(error))
  process.exit(1)
}

/** One sentence where it is one that a person can act on, else the error with its stack. */
function explain(error: unknown): unknown {
  const expected = [StartError, ConfigError, SetupError].some((kind) => error instanceof kind)
  if (expected) return messageOf(error)
  // A full disk, a missing right, too many open files.
  const isOfSystem = error instanceof Error && 'syscall' in error
  return isOfSystem ? `Intake cannot start: ${error.message}.` : error
}

async function run() {
  const stack = createStack({ config: readConfig(process.env), env: process.env, say })
  let ended: Promise<void> | undefined

  onEndRequest({
    first(reason) {
      say(`\n${reason}: stopping`)
      ended = stack.stop().then(() => say('Intake has stopped.'))
      ended.then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
    },
    second() {
      stack.kill()
      process.exit(130)
    },
  })

  try {
    say(welcome(await stack.start()))
  } catch (error) {
    if (ended !== undefined) return // whoever asked for the end knows why it did not get ready
    await stack.stop()
    throw error
  }
}
