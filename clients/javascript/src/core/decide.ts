import { retryStatuses, settingStatuses, uncertainCodes } from './retry-rules.ts'

/**
 * Parses a JSON object. Never throws: a text that is not JSON, such as a network's login page,
 * gives an empty object.
 */
export const parseObject = (text: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    return {}
  }
}

/**
 * The result of one record or attachment. It has a `code` if the record or attachment is rejected.
 */
export interface Result {
  status?: unknown
  code?: string
}

/**
 * Whether Intake has taken the record with this status in a response: accepted it, or dropped it
 * because of an operator's rule.
 */
export const isTaken = (status: unknown): boolean => status === 'accepted' || status === 'dropped'

/** Returns the list of results in a response, which may be absent or contain what is no result. */
export const resultsOf = (list: unknown): Result[] =>
  ([] as unknown[]).concat(list || []).map(Object)

/**
 * Whether the status of a failed request is about the URL or the API key, not about the records. If
 * the response has an error code, nothing will be accepted until someone changes a setting, perhaps
 * after `Retry-After`. Without an error code the response comes from a proxy, and a later request
 * may reach the gateway.
 */
export const isAboutSettings = (status: number): boolean => settingStatuses.includes(status)

/**
 * Whether the records of a failed request can be accepted later. A 4xx about the records is final,
 * even if this release does not know its code.
 */
export const isUnsettled = (status: number): boolean =>
  status < 400 || status >= 500 || retryStatuses.includes(status) || isAboutSettings(status)

/** Whether the response means that nothing of the request was stored. */
export const isDefinite = (status: number, code: string | false): boolean | '' =>
  code && (status < 500 || status === 503) && !uncertainCodes.includes(code)
