import { parseArgs } from 'node:util'
import { ConfigError } from '@intake/runtime'
import { SetupError } from '@intake/schema/setup'
import { messageOf, StartError } from '../supervisor/start-error.ts'
import { onEndRequest } from '../supervisor/end-request.ts'
import { readConfig } from './config.ts'
import { createStack } from './stack.ts'
import { welcome } from './welcome.ts'

const say = (line: string) => console.log(line)

// Makes the files of this process unreadable for other users of the machine.
process.umask(0o077)

// A closed pipe (`npm start | head`) must not end the process.
process.stdout.on('error', () => undefined)
process.stderr.on('error', () => undefined)

try {
  await run()
} catch (error) {
  console.error(explain(error))
  process.exit(1)
}

/** Returns only the message if the user can fix the error, otherwise also its stack trace. */
function explain(error: unknown): unknown {
  const expected = [StartError, ConfigError, SetupError].some((kind) => error instanceof kind)
  if (expected) return messageOf(error)
  // An error with `syscall` comes from the operating system: for example, a full disk, a missing
  // permission or too many open files.
  const isOfSystem = error instanceof Error && 'syscall' in error
  return isOfSystem ? `Intake cannot start: ${error.message}.` : error
}

/** The answer is an argument and not a setting, because it must apply to one start only. */
function readArguments(): boolean {
  try {
    const { values } = parseArgs({ options: { 'accept-empty-redis': { type: 'boolean' } } })
    return values['accept-empty-redis'] ?? false
  } catch (error) {
    throw new StartError(`npm start -- ${process.argv.slice(2).join(' ')}: ${messageOf(error)}`)
  }
}

async function run() {
  const stack = createStack({
    config: readConfig(process.env),
    env: process.env,
    acceptEmptyRedis: readArguments(),
    say,
  })
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
    say(welcome(await stack.start(), process.env))
  } catch (error) {
    if (ended !== undefined) return // the start was interrupted on request
    await stack.stop()
    throw error
  }
}
