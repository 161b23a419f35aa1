import closeWithGrace from 'close-with-grace'
import type { Static, TObject } from 'typebox'
import { ConfigError, loadConfig } from './config.ts'
import { setHeapGrowth } from './heap.ts'
import { createLogger, type Logger } from './logger.ts'

/** Something that runs until it is closed. */
export interface Running {
  close(): Promise<void>
}

/**
 * Manages the life of a process: sets its heap growth, reads its settings from the environment, starts
 * it, and closes it once on SIGTERM, SIGINT or an uncaught error. Exits with code 1 when it cannot
 * start or does not close within `closeTimeoutMs`.
 */
export async function runProcess<S extends TObject>(options: {
  name: string
  config: S
  closeTimeoutMs: number
  start(config: Static<S>, log: Logger): Promise<Running>
}): Promise<void> {
  setHeapGrowth()
  const log = createLogger({ name: options.name, level: process.env['LOG_LEVEL'] || 'info' })
  let running: Running | undefined
  closeWithGrace({ delay: options.closeTimeoutMs, logger: log }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'uncaught error: closing')
    else log.info({ signal }, 'closing')
    await running?.close()
  })
  try {
    running = await options.start(loadConfig(options.config, process.env), log)
  } catch (err) {
    if (err instanceof ConfigError) log.fatal(err.message)
    else log.fatal({ err }, 'cannot start')
    process.exit(1)
  }
}
