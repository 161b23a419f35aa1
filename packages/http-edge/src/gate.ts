import type { IncomingMessage } from 'node:http'

/** Decides when a request whose head has arrived is served. */
export interface Gate {
  /** Whether one more request may be served now. If so, it counts as served. */
  enter(): boolean
  /** Makes a request that could not enter wait, and calls `serve` when it is its turn. */
  wait(request: IncomingMessage, serve: () => void): void
}

/** A gate that serves every request at once. */
export const openGate: Gate = {
  enter: () => true,
  wait: (_request, serve) => serve(),
}
