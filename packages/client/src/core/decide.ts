import { retryStatuses, settingStatuses, uncertainCodes } from './retry-rules.ts'

/**
 * `retry`: the same again, later. `few`: the same, at most three times. `split`: it is too large.
 * `stop`: nothing will be accepted until someone changes a setting; everything is kept. `drop`: it
 * will never be accepted.
 */
export type Decision = 'retry' | 'few' | 'split' | 'stop' | 'drop'

/** @returns an empty object for what is no JSON object, such as the login page of a network */
export function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    return {}
  }
}

/**
 * A 4xx is final, also if this release does not know it. Without a code, one about the address or the
 * key is a proxy's: it may lead to the gateway again later.
 *
 * @param code of the problem; undefined: the answer is not Intake's, or there was none
 */
export function decide(status: number, code: string | undefined): Decision {
  if (status === 413) return 'split'
  if (status === 401) return 'stop'
  if (status === 500) return 'few'
  if (status < 400 || status > 500 || retryStatuses.indexOf(status) >= 0) return 'retry'
  if (settingStatuses.indexOf(status) < 0) return 'drop'
  return code ? 'stop' : 'retry'
}

/** Whether the answer says that nothing of the request was stored. */
export const isDefinite = (status: number, code: string | undefined): boolean =>
  !!code && (status < 500 || status === 503) && uncertainCodes.indexOf(code) < 0
