import { randomBytes } from 'node:crypto'
import type { Child } from '@intake/supervisor'

/** One running service of the stack. */
export interface Service extends Pick<Child, 'name' | 'pid' | 'exited' | 'stop' | 'kill'> {
  /** Where it listens, with the credentials. */
  url: string
  port: number
}

/** What every launcher takes. */
export interface ServiceOptions {
  /** Created when absent; everything the service keeps is in it. */
  dataDir: string
  /** 0 picks a free one. */
  port: number
  /** Default: a file in `dataDir`. */
  logFile?: string
  /** False: it shares the session of this process; see `ChildOptions`. */
  ownSession?: boolean
  /** How long the service may take to become ready. */
  readyMs?: number
  /** Gives up starting: nothing is left behind and the launcher rejects. Without effect afterwards. */
  signal?: AbortSignal | undefined
}

/** Letters and digits only, so that it needs no quoting in a URL, a file or a shell. */
export function randomSecret(): string {
  return randomBytes(24).toString('hex')
}

export function toService(child: Child, { url, port }: { url: string; port: number }): Service {
  const { name, pid, exited, stop, kill } = child
  return { name, url, port, pid, exited, stop, kill }
}
