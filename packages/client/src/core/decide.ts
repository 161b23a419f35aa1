import type { Answer } from './ports.ts'
import { retryRules } from './retry-rules.ts'

/**
 * `retry`: the same again, later. `few`: the same, at most three times. `split`: it is too large.
 * `stop`: nothing will be accepted until someone changes a setting; everything is kept. `drop`: it
 * will never be accepted.
 */
export type Decision = 'retry' | 'few' | 'split' | 'stop' | 'drop'

export interface Refusal {
  status: number
  /** From the problem document; undefined: the answer is not Intake's, or not complete. */
  code: string | undefined
  /** Milliseconds since 1970, if the problem says it. */
  serverTime: number | undefined
}

/** Reads an answer that is not a success. */
export function readRefusal({ status, body }: Answer): Refusal {
  const problem = parseObject(body)
  const { code, server_time: time } = problem
  return {
    status,
    code: typeof code === 'string' ? code : undefined,
    serverTime: typeof time === 'string' ? Date.parse(time) || undefined : undefined,
  }
}

export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Not JSON: an answer of a proxy, or the page of a network that asks for a login.
  }
  return {}
}

/** Codes that say that no address or key of this configuration is right. */
const settings = ['unauthorized', 'bundle_not_allowed', 'not_found', 'method_not_allowed']

export function decide({ status, code }: Refusal): Decision {
  const rule = ruleOf(code)
  if (status === 413) return 'split'
  if (status === 401 || (rule && settings.indexOf(code!) >= 0)) return 'stop'
  if (rule === 'never') return 'drop'
  if (status === 500 || rule === 'few') return 'few'
  if (rule || status === 408 || status === 429 || status >= 500) return 'retry'
  // A code that this release does not know is Intake's; an answer without one is a proxy's.
  return code !== undefined && status >= 400 ? (status === 403 ? 'stop' : 'drop') : 'retry'
}

/** Whether the answer says that nothing of the request was stored. */
export function isDefinite({ status, code }: Refusal): boolean {
  const rule = ruleOf(code)
  if (rule) return rule === 'never' || rule === 'retry'
  return code !== undefined && status >= 400 && status < 500
}

const ruleOf = (code: string | undefined) =>
  code !== undefined && Object.prototype.hasOwnProperty.call(retryRules, code)
    ? retryRules[code as keyof typeof retryRules]
    : undefined
