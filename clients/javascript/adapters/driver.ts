import type { InitOptions as SuiteOptions, SentAttachment } from '../../conformance/src/adapter.ts'

export interface InitOptions extends SuiteOptions {
  storageBytesMax?: number
}
export type { SentAttachment }

/** Drives the client that the conformance suite tests. The client's storage survives `kill`. */
export interface Driver {
  name: string
  capabilities: string[]
  init(options: InitOptions): Promise<void>
  clock(offsetMs: number): Promise<void>
  log(event: string, params: unknown): Promise<{ id?: string }>
  logs(count: number, event: string): Promise<{ stored: number }>
  feedback(
    text: string,
    email: string | undefined,
    attachments: SentAttachment[],
  ): Promise<{ id: string }>
  flush(timeoutMs: number): Promise<{ left: number }>
  /** Resolves to the result of the client's `stats`. */
  state(): Promise<unknown>
  optOut(): Promise<void>
  optIn(): Promise<void>
  /** Ends the client without warning. Resolves when the client cannot send anything more. */
  kill(): Promise<void>
  pageEnd?(): Promise<void>
  /** Kills the client and empties its storage. */
  clear(): Promise<void>
  close(): Promise<void>
}
