import type { IncomingMessage } from 'node:http'
import type { IntakeError } from '@intake/contract'

/** The content of an error response that comes from the edge and not from the framework. */
export interface RefusalBody {
  type: string
  body: string
  fields?: Readonly<Record<string, string>> | undefined
}

/**
 * Makes the response to what does not reach the framework. Called once for each refusal.
 *
 * @param request undefined for bytes that are not a request
 */
export type Refuse = (error: IntakeError, request: IncomingMessage | undefined) => RefusalBody
