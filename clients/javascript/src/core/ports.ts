/**
 * Stores the records that wait to be sent. Each function returns a promise and never throws
 * synchronously. Names and keys consist of letters, digits, `.`, `-` and `_`. An append or a rename
 * that has resolved survives the end of the process. A call that fails rejects; a failure is never
 * reported as if the name did not exist.
 */
export interface Storage {
  /**
   * All names and keys that clients have written, except those of another process that is known to
   * be running.
   */
  list(): Promise<string[]>
  /** Reads the text of a name; resolves to undefined if the name does not exist. */
  read(name: string): Promise<string | undefined>
  /**
   * Adds text at the end of `name`, and reserves numbers for its lines from the device's counter,
   * which starts at 1. Either stores the whole text, or rejects and stores nothing of it. When it
   * rejects, it gives the numbers back where possible.
   *
   * @param isNew true if `name` does not exist yet
   * @param count how many numbers to reserve
   * @param print returns the text. Its argument is the first number; it is 0 if the lines get no
   *   numbers. May be called again if its first text was not stored.
   * @returns false if `isNew` is false but `name` does not exist, because another process renamed
   *   it
   */
  append(
    name: string,
    isNew: boolean,
    count: number,
    print: (first: number) => string,
  ): Promise<boolean>
  /**
   * Renames in one step: if several processes rename the same name, only one succeeds.
   *
   * @returns false if `from` does not exist
   */
  rename(from: string, to: string): Promise<boolean>
  /** Removes a name or a key; has no effect if it does not exist. */
  remove(name: string): Promise<unknown>
  /**
   * Reads a value; resolves to undefined if the key does not exist, or if what is stored can never
   * be parsed.
   */
  get(key: string): Promise<unknown>
  /** @param isNew true if the call must reject when the key has a value */
  set(key: string, value: unknown, isNew?: boolean): Promise<unknown>
}

/** The response of a server or a proxy. */
export interface Answer {
  status: number
  body: string
  date: string | null
  retryAfter: string | null
}

export interface OutgoingRequest {
  path: string
  /** JSON text, or a form for feedback. */
  body: unknown
  /** True if the page is ending: the request must start before this call returns. */
  isLast?: boolean | undefined
}

/** Sends a request. Rejects if no complete response arrives within the timeout of the transport. */
export type Transport = (request: OutgoingRequest) => Promise<Answer>

export interface TimeSource {
  /** The clock of the device, in milliseconds since 1970. */
  now(): number
  /** Milliseconds since a moment that stays the same while the process runs. */
  monotonic(): number
  /**
   * Calls `run` once after `ms` milliseconds.
   *
   * @param isIdle true if the timer should not keep the process alive
   * @returns the timer, never a falsy value
   */
  setTimeout(run: () => void, ms: number, isIdle?: boolean): unknown
  clearTimeout(timer: unknown): void
}

export interface Ports<Attachment> extends TimeSource {
  storage: Storage
  transport: Transport
  /** Fills a list with random numbers. */
  random(words: Uint16Array): unknown
  device(): Promise<Record<string, unknown>>
  /** Selects the properties that log events carry. Default: all. */
  logDevice?(device: Record<string, unknown>): Record<string, unknown>
  /**
   * Appended to a new UUID to form the name of this run. The fourth part of a segment's name is the
   * name of its run.
   */
  runSuffix: string
  /** How long events gather in memory before they are written, in milliseconds. */
  writeDelayMs: number
  /**
   * The largest body that can be sent at the end of the page, in bytes; 0 if nothing can be sent
   * then. Such a body is sent before its segment is marked as attempted in storage.
   */
  pageEndBytes(): number
  /**
   * Converts an attachment to the value that is stored, or to a promise of that value. The value is
   * a copy where possible, because the app may change the attachment after the call. It is
   * undefined for anything that is no attachment. The function never throws, and the promise never
   * rejects.
   */
  keepAttachment(attachment: Attachment | undefined): unknown
  /** Releases what the platform holds for the client. The last step of `shutdown`. */
  end(): unknown
  /** Builds the form for a feedback. `attachments` come from `keepAttachment`. Never throws. */
  form(payload: string, attachments: readonly unknown[]): unknown
}
