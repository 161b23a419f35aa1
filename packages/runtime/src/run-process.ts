import closeWithGrace from 'close-with-grace'
import type { Static, TObject } from 'typebox'
import { ConfigError } from './config-error.ts'
import { describeConfig, loadConfig } from './config.ts'
import { setHeapGrowth } from './heap.ts'
import { createLogger, type Logger } from './logger.ts'
import { createOwner, type Owner } from './owner.ts'
import { version } from './version.ts'
import { watchSecrets, type Secrets } from './watch-secrets.ts'

const help = 'docs/operations/process-ends.md'

/** What a process has at its start. */
export interface ProcessContext<S extends TObject> {
  config: Static<S>
  log: Logger
  secrets: Secrets<S>
  /** Closes parts in reverse order, so each is created after those that it uses. */
  owner: Owner
}

/**
 * Runs a process: sets its heap growth, reads its settings and logs them without secrets, follows
 * the files of secrets and calls `start`. On SIGTERM, SIGINT or an uncaught error, ends all that
 * the owner has. Exits with code 1 if the process cannot start or does not close in time.
 */
export async function runProcess<S extends TObject>(options: {
  name: string
  config: S
  closeTimeoutMs: (config: Static<S>) => number
  start(context: ProcessContext<S>): Promise<void>
}): Promise<void> {
  setHeapGrowth()
  const { name } = options
  const log = createLogger({ name, level: process.env['LOG_LEVEL'] || 'info' })
  try {
    const config = loadConfig(options.config, process.env)
    const settings = describeConfig(options.config, config)
    log.info({ version, node: process.versions.node, settings }, `${name} starts`)
    const secrets = watchSecrets({ schema: options.config, env: process.env, config, log })
    const owner = createOwner((err) => log.error({ err, help }, 'a part could not be closed'))
    const delay = options.closeTimeoutMs(config)
    closeWithGrace({ delay, logger: log }, async ({ err, signal }) => {
      if (err) log.fatal({ err, help }, 'uncaught error: closing')
      else log.info({ signal }, 'closing')
      // Ending may take long, and may need a secret that changes meanwhile.
      await owner.end()
      secrets.close()
    })
    await options.start({ config, log, secrets, owner })
  } catch (err) {
    if (err instanceof ConfigError)
      log.fatal({ help: 'docs/operations/problems.md#configuration' }, err.message)
    else log.fatal({ err, help }, 'cannot start')
    process.exit(1)
  }
}
