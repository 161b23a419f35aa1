/** A log event, as `beforeSend` gets it. */
export interface LogEvent {
  event: string
  params: Record<string, unknown>
}

/** What every platform takes. */
export interface IntakeOptions {
  /**
   * The address of the gateway, such as `https://intake.example.com`, or the prefix that replaces its
   * `/api`, such as `https://www.example.com/i` or `/i` in a browser.
   */
  url: string
  apiKey: string
  bundleIdentifier: string
  /** Identifies the device: a UUID. Without it the client makes one and keeps it. */
  deviceUuid?: string | undefined
  /** Identifies the user. Without it, the device's UUID is sent. `identify` changes it. */
  userId?: string | undefined
  /** Properties of the device, in addition to those that the client finds; these win. */
  device?: Record<string, unknown> | undefined
  /** How long an event waits for others of the same request, in milliseconds. Default: 5,000. */
  flushIntervalMs?: number | undefined
  /** Events in a request, 1 to 500. Default: 500. */
  batchEntriesMax?: number | undefined
  /** Size of all log events that wait, in bytes. Beyond it the oldest go. Default: 4,000,000. */
  storageBytesMax?: number | undefined
  /** Number of log events that wait. Beyond it the oldest go. Default: 5,000. */
  storageEventsMax?: number | undefined
  /** The shortest and longest pause before a repeat. Default: 1,000 and 900,000 milliseconds. */
  retryMs?: { min: number; max: number } | undefined
  /** Changes an event before it is kept. `null` drops it. It must be fast: `log` calls it. */
  beforeSend?: ((event: LogEvent) => LogEvent | null) | undefined
  /** Called with the reason and the number of records whenever the client gives up records. */
  onDrop?: ((reason: string, count: number) => void) | undefined
}

export interface Feedback<Attachment> {
  text: string
  email?: string | undefined
  /** Up to four images. */
  attachments?: readonly Attachment[] | undefined
}

export interface FeedbackReceipt {
  /** The id of the feedback; the column `feedback_id`. */
  id: string
  /** False: it was refused at once, and `onDrop` got the reason. */
  isKept: boolean
}

export interface Stats {
  /** Records that wait to be sent. */
  pending: { logs: number; feedback: number }
  /** Why nothing is sent until the next start, such as `unauthorized`; false: sending goes on. */
  stopped: string | false
  /** Records that were given up since the start, by reason. */
  dropped: Record<string, number>
  /** Size of the log events that wait, in bytes. */
  storageBytes: number
  /** Whether `optOut` is in force. */
  isOptedOut: boolean
  /** What is added to the clock of the device, in milliseconds. 0: it is right, or not known. */
  clockOffsetMs: number
}

/** All methods may be called at any time, in any order, and none throws or rejects. */
export interface Intake<Attachment> {
  /**
   * Keeps an event, and sends it later. It is over in microseconds and waits for nothing.
   *
   * @returns the id of the event, the column `id`; undefined: it was dropped, and `onDrop` got the
   * reason
   */
  log(event: string, params?: Record<string, unknown>): string | undefined
  /** Keeps a feedback and sends it soon. Resolves when it is stored on the device. */
  feedback(feedback: Feedback<Attachment>): Promise<FeedbackReceipt>
  /** The user of all later records; undefined: nobody. */
  identify(userId: string | undefined): void
  /** Resolves when every event that was logged before is stored on the device. */
  stored(): Promise<void>
  /**
   * Sends what waits, at once unless sending pauses after a failure. Resolves when nothing is left,
   * when sending has stopped, or after `timeoutMs` (default: 5,000), with the number of records left.
   */
  flush(options?: { timeoutMs?: number }): Promise<{ left: number }>
  /** Flushes and ends; what is left is sent after the next start. Later calls do nothing. */
  shutdown(options?: { timeoutMs?: number }): Promise<{ left: number }>
  /** Deletes everything that waits and keeps nothing more, also after a restart. */
  optOut(): Promise<void>
  /** Ends `optOut`. */
  optIn(): Promise<void>
  stats(): Stats
}
