import type { IncomingMessage } from 'node:http'

/** Decides when a request whose head has arrived is served. */
export interface Gate {
  connected(): void
  /** Returns whether one more request may be served now; if so, counts that request as served. */
  enter(): boolean
  /** Queues a request for which `enter` returned false. Calls `serve` when its turn has come. */
  wait(request: IncomingMessage, serve: () => void): void
}

/** A gate that serves every request at once. */
export const openGate: Gate = {
  connected: () => undefined,
  enter: () => true,
  wait: (_request, serve) => serve(),
}
