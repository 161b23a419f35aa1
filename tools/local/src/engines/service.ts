import { randomBytes } from 'node:crypto'
import type { Child } from '../supervisor/child.ts'

export interface Service extends Child {
  url: string
  port: number
}

export interface ServiceOptions {
  /** The folder for all data of the service. Created if absent. */
  dataDir: string
  /** 0 picks a free port. */
  port: number
  /** Default: a file in `dataDir`. */
  logFile?: string
  /** Whether the service gets its own session; see `ChildOptions`. */
  ownSession?: boolean
  /** Timeout for the service to become ready, in milliseconds. */
  readyMs?: number
  /** Aborts the start, which then leaves no process. Has no effect later. */
  signal?: AbortSignal | undefined
}

/** A secret has letters and digits, which need no quoting in a URL, a file or a shell. */
export function randomSecret(): string {
  return randomBytes(24).toString('hex')
}
