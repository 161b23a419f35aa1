import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `held`: gets no response, even after the treatment has changed. */
type Treatment = 'accepted' | 'failed' | 'held'

export interface WebhookReceiver {
  url: string
  /** How often each message about a feedback or an alert was accepted, by its id. */
  accepted: ReadonlyMap<string, number>
  /** The number of requests that got no response and are still open. */
  held(): number
  treat(requests: Treatment): void
  close(): Promise<void>
}

/** Starts a receiver of the webhook on loopback; it accepts requests until `treat` is called. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const accepted = new Map<string, number>()
  const held = new Set<ServerResponse>()
  let treatment: Treatment = 'accepted'

  function respond({ headers }: IncomingMessage, response: ServerResponse): void {
    if (treatment === 'held') {
      held.add(response)
      response.once('close', () => held.delete(response))
      return
    }
    if (treatment === 'accepted') {
      const id = String(headers['webhook-id'])
      accepted.set(id, (accepted.get(id) ?? 0) + 1)
    }
    response.writeHead(treatment === 'accepted' ? 204 : 500).end()
  }

  const server = createServer((request, response) => {
    request.resume().once('end', () => respond(request, response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    accepted,
    held: () => held.size,
    treat: (requests) => void (treatment = requests),
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
