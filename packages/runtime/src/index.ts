export { pause, systemClock, untilWholeSecond, type Clock, type Timer } from './clock.ts'
export { ConfigError, problemsOf } from './config-error.ts'
export { orAbort, retryUntil, TimeoutError, withTimeout, type Attempt } from './deadline.ts'
export { endpointsFile } from './endpoints-file.ts'
export { keptFreeBytes } from './kept-free.ts'
export { limitRepeats } from './limit-repeats.ts'
export { isLoopbackAddress, isLoopbackHost } from './loopback.ts'
export { parseTime, timeForm } from './parse-time.ts'
export { plural, quantity } from './plural.ts'
export { startPolling } from './poll.ts'
export { quoteWord } from './quote-word.ts'
export { createOwner, type Owner } from './owner.ts'
export { createSecret, type Secret } from './secret.ts'
export {
  readSecret,
  secretFile,
  SecretFileError,
  secretNames,
  type Traits,
} from './secret-files.ts'
export { sha256InTurns } from './sha256-in-turns.ts'
export { tryJson } from './try-json.ts'
export { splitUrls, withoutCredentials } from './urls.ts'
export { version } from './version.ts'
export * from './visible-text.ts'
