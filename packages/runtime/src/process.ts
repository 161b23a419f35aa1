import closeWithGrace from 'close-with-grace'
import type { Logger } from './logger.ts'

/**
 * Owns the life of a process: starts it, closes it once on SIGTERM, SIGINT or an uncaught error,
 * and ends it with exit code 1 when it cannot start or does not close within `closeDeadlineMs`.
 */
export async function runProcess(options: {
  log: Logger
  closeDeadlineMs: number
  start(): Promise<{ close(): Promise<void> }>
}): Promise<void> {
  const { log } = options
  let running: { close(): Promise<void> } | undefined
  closeWithGrace({ delay: options.closeDeadlineMs, logger: log }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'uncaught error: closing')
    else log.info({ signal }, 'closing')
    await running?.close()
  })
  try {
    running = await options.start()
  } catch (err) {
    log.fatal({ err }, 'cannot start')
    process.exit(1)
  }
}
