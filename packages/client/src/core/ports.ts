/**
 * Where records wait. Each function returns a promise, also if it fails. Names and keys consist of letters, digits, `.`, `-` and `_`. An append or a
 * rename that has resolved survives the end of the process.
 */
export interface Storage {
  /** All names and keys, but not those of another process that is known to run. */
  list(): Promise<string[]>
  read(name: string): Promise<string | undefined>
  /**
   * Adds text at the end of `name`, and takes numbers for its lines from the counter of the device,
   * which starts at 1.
   *
   * @param isNew `name` does not exist yet
   * @param count how many numbers are taken
   * @param print the text, by the first of the numbers
   * @returns false: it is not new, but does not exist, because another process has renamed it
   */
  append(
    name: string,
    isNew: boolean,
    count: number,
    print: (first: number) => string,
  ): Promise<boolean>
  /**
   * At once: of several processes that rename the same name, one succeeds.
   *
   * @returns false: `from` does not exist
   */
  rename(from: string, to: string): Promise<boolean>
  /** Removes a name or a key. Nothing happens if it does not exist. */
  remove(name: string): Promise<void>
  get(key: string): Promise<unknown>
  set(key: string, value: unknown): Promise<void>
  close?: (() => void) | undefined
}

/** What a server or a proxy answered. */
export interface Answer {
  status: number
  body: string
  /** The header fields `Date` and `Retry-After`. */
  date: string | null
  retryAfter: string | null
}

export interface OutgoingRequest {
  /** From the prefix, such as `/log/batch`. */
  path: string
  /** JSON, or a form for feedback. */
  body: unknown
  /** The page ends: the request has to begin before this call returns. */
  isLast?: boolean | undefined
}

/** Rejects if there was no complete answer; ends each request after a time of its own. */
export type Transport = (request: OutgoingRequest) => Promise<Answer>

export interface TimeSource {
  /** The clock of the device, in milliseconds since 1970. */
  now(): number
  /** Milliseconds since a moment that does not change while the process runs. */
  monotonic(): number
  setTimeout(run: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
  /** A timer for which the process need not stay; absent: like `setTimeout`. */
  setIdleTimeout?(run: () => void, ms: number): unknown
}

/** What differs between platforms. */
export interface Ports<Attachment> {
  storage: Storage
  transport: Transport
  time: TimeSource
  /** Fills it with random bytes. */
  random(bytes: Uint8Array): void
  /** Properties of the device. */
  device(): Promise<Record<string, unknown>>
  /** Which of them go with log events; absent: all. */
  logDevice?(device: Record<string, unknown>): Record<string, unknown>
  /** Added to the name of this run of the client, the fourth part of the names of its segments. */
  runSuffix: string
  /** How long events gather before they are written, in milliseconds. */
  writeDelayMs: number
  /** Whether events may be sent at the end of the page before their attempt is marked. */
  sendsAtPageEnd(): boolean
  /** What is stored of an attachment. */
  keepAttachment(attachment: Attachment): unknown
  /** The body of a feedback request. */
  form(payload: string, attachments: readonly unknown[]): unknown
}
