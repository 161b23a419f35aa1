import type { IncomingMessage } from 'node:http'
import type { IntakeError } from '@intake/contract'

/** The body of a response that the edge writes itself, and its media type. */
export interface RefusalBody {
  type: string
  body: string
}

/**
 * Called once for everything that the edge refuses before the framework sees it.
 *
 * @param request undefined: bytes that are no request
 */
export type Refuse = (error: IntakeError, request: IncomingMessage | undefined) => RefusalBody
