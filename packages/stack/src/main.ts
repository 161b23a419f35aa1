import { ConfigError } from '@intake/runtime'
import { SetupError } from '@intake/setup'

import { readSettings } from './settings.ts'
import { createStack } from './stack.ts'
import { StartError } from './start-error.ts'
import { onEndRequest } from './end-request.ts'
import { welcome } from './welcome.ts'

const say = (line: string) => console.log(line)

// Nobody may be reading any more (`npm start | head`); that is no reason to end.
process.stdout.on('error', () => undefined)
process.stderr.on('error', () => undefined)

try {
  await run()
} catch (error) {
  const expected = [StartError, ConfigError, SetupError].some((kind) => error instanceof kind)
  console.error(expected ? (error as Error).message : error)
  process.exit(1)
}

async function run() {
  const stack = createStack({ settings: readSettings(process.env), env: process.env, say })
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
