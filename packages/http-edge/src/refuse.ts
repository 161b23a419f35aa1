import type { IncomingMessage } from 'node:http'
import type { IntakeError } from '@intake/contract'

/** The content of an error response that comes from the edge and not from the framework. */
export interface RefusalBody {
  type: string
  body: string
  /** Further header fields. */
  fields?: Readonly<Record<string, string>> | undefined
}

/**
 * Creates the response to something that the edge refuses: a request that does not reach the
 * framework, or bytes that are not a request. Called once for each refusal.
 *
 * @param request undefined for bytes that are not a request
 */
export type Refuse = (error: IntakeError, request: IncomingMessage | undefined) => RefusalBody
