import type { IncomingMessage } from 'node:http'
import type { IntakeError } from '@intake/contract'

/** The body and media type of a response that the edge writes itself. */
export interface RefusalBody {
  type: string
  body: string
}

/**
 * Called once for everything that the edge refuses before the framework sees it.
 *
 * @param request undefined for bytes that are not a request
 */
export type Refuse = (error: IntakeError, request: IncomingMessage | undefined) => RefusalBody
