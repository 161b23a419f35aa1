export interface LogEvent {
  event: string
  params: Record<string, unknown>
}

export interface IntakeOptions {
  /**
   * The address of the gateway, such as `https://intake.example.com`, or the prefix that replaces
   * its `/api`, such as `https://www.example.com/i` or `/i` in a browser.
   */
  url: string
  apiKey: string
  bundleIdentifier: string
  /** The UUID that identifies the device. Default: the client makes one and keeps it. */
  deviceUuid?: string | undefined
  /** Identifies the user; `identify` changes it. Default: the device's UUID is sent. */
  userId?: string | undefined
  /** Properties of the device. They replace properties of the same name that the client finds. */
  device?: Record<string, unknown> | undefined
  /**
   * How long an event waits, in milliseconds, so that later events can be sent in the same request.
   * Default: 5,000.
   */
  flushIntervalMs?: number | undefined
  /** Maximum number of events in a request, 1 to 500. Default: 500. */
  batchEntriesMax?: number | undefined
  /**
   * Maximum size of all waiting log events, in bytes. If there are more, the oldest are dropped.
   * Default: 4,000,000.
   */
  storageBytesMax?: number | undefined
  /**
   * Maximum number of waiting log events. If there are more, the oldest are dropped. Default:
   * 5,000.
   */
  storageEventsMax?: number | undefined
  /** The shortest and longest pause before a retry. Default: 1,000 and 900,000 milliseconds. */
  retryMs?: { min?: number | undefined; max?: number | undefined } | undefined
  /**
   * Changes an event before it is kept; returns `null` to drop it. The params are a copy that
   * contains only what JSON can represent. `log` waits for this function, so it must be fast.
   */
  beforeSend?: ((event: LogEvent) => LogEvent | null) | undefined
  /**
   * Called whenever the client has dropped records, with the reason and their number. It is called
   * after the method that dropped them has returned, so it may call `log`.
   */
  onDrop?: ((reason: string, count: number) => void) | undefined
}

export interface FlushOptions {
  timeoutMs?: number | undefined
}

export interface Feedback<Attachment> {
  text: string
  email?: string | undefined
  /**
   * Up to four images. They are copied, except files of React Native. An attachment that is not
   * image data is left out and counted as `invalid_attachment`; the text is kept.
   */
  attachments?: readonly Attachment[] | undefined
  /** Further fields, such as `rating`. They arrive in the column `extra`, below `feedback`. */
  [field: string]: unknown
}

export interface FeedbackReceipt {
  /** The id of the feedback, which becomes the column `feedback_id`. */
  id: string
  /** False if the feedback is not kept. */
  isKept: boolean
  /**
   * Why the feedback is not kept: `off` after `optOut` or `shutdown`, else what `onDrop` gets, such
   * as `invalid_feedback` if there is no text.
   */
  reason?: string | undefined
}

export interface SendError {
  time: string
  /** The status of the response; 0 if there was none. */
  status: number
  /**
   * The error code in the response. If it has none: `http_` and the status, or `http_0` if there
   * was no response.
   */
  code: string
  /**
   * What the server or the platform said about it. In a browser also that the browser may have
   * blocked the request, which is then as good as no response.
   */
  message?: string | undefined
}

export interface Stats {
  /** Numbers of records that wait to be sent. */
  pending: { logs: number; feedback: number }
  /**
   * Why nothing more is sent before the next start, such as `unauthorized`; false if sending
   * continues.
   */
  stopped: string | false
  /** The last request that failed; absent if none has failed since the client started. */
  lastError?: SendError | undefined
  /** Numbers of records that were dropped since the client started, by reason. */
  dropped: Record<string, number>
  /** Size of the log events that wait, in bytes. */
  storageBytes: number
  isOptedOut: boolean
  /**
   * Milliseconds that are added to the device's clock; 0 if the clock is right or the server's time
   * is not known.
   */
  clockOffsetMs: number
}

/**
 * The methods for the app. All methods may be called at any time, in any order, and none throws or
 * rejects.
 */
export interface Intake<Attachment> {
  /**
   * Keeps an event and sends it later. The call takes microseconds and waits for nothing.
   *
   * @returns the id of the event. It becomes the column `id`, unless the clock was wrong: the
   *   client then changes the id before it sends the event. Undefined if the event is not kept;
   *   `onDrop` then gets the reason, except after `optOut`, after `shutdown`, if `beforeSend`
   *   returned `null`, and if a rule of the operator drops events with this name
   */
  log(event: string, params?: object | null): string | undefined
  /** Keeps a feedback and sends it soon. Resolves when it is stored on the device. */
  feedback(feedback: Feedback<Attachment>): Promise<FeedbackReceipt>
  /** Sets the user of all later records; undefined if there is none. */
  identify(userId: string | null | undefined): void
  /**
   * Resolves when every event that was logged before this call is stored on the device, or in
   * memory if the storage cannot be written.
   */
  stored(): Promise<void>
  /**
   * Sends the records that wait: at once, or after the pause that follows a failure. Resolves when
   * none remain, when sending has stopped, or after `timeoutMs` (default: 5,000), with the number
   * of remaining records.
   */
  flush(options?: FlushOptions | null): Promise<{ left: number }>
  /**
   * Flushes and ends the client. Remaining records are sent after the next start. Later calls do
   * nothing.
   */
  shutdown(options?: FlushOptions | null): Promise<{ left: number }>
  /** Deletes all records that wait, and keeps no new ones, even after a restart. */
  optOut(): Promise<void>
  /** Ends the effect of `optOut`. */
  optIn(): Promise<void>
  stats(): Stats
}
