import { retryStatuses, settingStatuses, uncertainCodes } from './retry-rules.ts'

/**
 * What to do after a failed request. `retry`: send the same request again later. `stop`: nothing
 * will be accepted until someone changes a setting; keep everything. `drop`: it will never be
 * accepted.
 */
export type Decision = 'retry' | 'stop' | 'drop'

/**
 * Parses a JSON object. Never throws: a text that is not JSON, such as a network's login page,
 * gives an empty object.
 */
export function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** The result of one record, or of an attachment. What is not accepted has a `code`. */
export interface Result {
  status?: unknown
  code?: string
}

/** Whether Intake has taken it. It may also have dropped it because of an operator's rule. */
export const isTaken = (status: unknown): boolean => status === 'accepted' || status === 'dropped'

/** Returns an empty list for anything but a list. */
export const resultsOf = (list: unknown): Result[] =>
  Array.isArray(list) ? list.map((one) => Object(one) as Result) : []

/**
 * Decides what to do after a failed request. A 4xx about the records is final, even if this release
 * does not know its code. A 4xx about the address or the key stops sending if it has a code.
 * Without a code it comes from a proxy, through which a later request may reach the gateway, so it
 * is retried.
 *
 * @param code the error code in the response; undefined if Intake did not respond
 */
export function decide(status: number, code: string | undefined): Decision {
  if (status < 400 || status >= 500 || retryStatuses.indexOf(status) >= 0) return 'retry'
  if (settingStatuses.indexOf(status) < 0) return 'drop'
  return code ? 'stop' : 'retry'
}

/** Whether the response means that nothing of the request was stored. */
export const isDefinite = (status: number, code: string | undefined): boolean =>
  !!code && (status < 500 || status === 503) && uncertainCodes.indexOf(code) < 0
