import { createLogger, type Logger } from '@intake/runtime/process'

/** Creates a log whose lines are passed to `write`. */
export const logTo = (write: (line: string) => void, level = 'info'): Logger =>
  createLogger({ name: 'test', level, destination: { write } })
