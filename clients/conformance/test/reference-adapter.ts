import { createServer, type IncomingMessage } from 'node:http'
import { rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { capabilities, type Capability, type InitOptions } from '../src/adapter.ts'
import type { Flaw } from './flaws.ts'
import { createReferenceSender, type ReferenceSender } from './reference-sender.ts'

/**
 * Starts the adapter of the reference sender.
 *
 * @param options.folder the folder for the sender's storage
 * @param options.capabilities the capabilities that the adapter reports; default: all
 * @param options.sendsAtStart whether what is left of earlier runs is sent before `/init` responds
 */
export async function startReferenceAdapter(options: {
  folder: string
  flaw?: Flaw
  capabilities?: Capability[]
  sendsAtStart?: boolean
}): Promise<{ url: string; close(): Promise<void> }> {
  const { flaw, capabilities: has = Object.keys(capabilities) } = options
  const folder = join(options.folder, 'storage')
  let sender: ReferenceSender | undefined

  function kill(): void {
    sender?.end()
    sender = undefined
  }
  function running(): ReferenceSender {
    if (sender === undefined) throw new Error('the sender is not running')
    return sender
  }

  const calls: Record<string, (body: never) => unknown> = {
    'GET /': () => ({ name: flaw ?? 'reference', capabilities: has }),
    async 'POST /init'(init: InitOptions) {
      kill()
      const clockOffsetMs = init.clockOffsetMs ?? 0
      sender = createReferenceSender({ folder, init, flaw, clockOffsetMs })
      if (options.sendsAtStart) await sender.flush(1000)
    },
    'POST /clock': ({ offsetMs }: { offsetMs: number }) => void running().setClock(offsetMs),
    'POST /log': ({ event, params }: { event: string; params: object }) => ({
      id: running().log(event, params),
    }),
    'POST /logs'({ event, count }: { event: string; count: number }) {
      for (let n = 0; n < count; n++) running().log(event, { n })
      return { stored: count }
    },
    'POST /feedback': (feedback: { text: string }) => ({ id: running().feedback(feedback) }),
    'POST /flush': async ({ timeoutMs }: { timeoutMs: number }) => ({
      left: await running().flush(timeoutMs),
    }),
    'GET /state': () => running().state(),
    'POST /opt-out': () => running().optOut(),
    'POST /opt-in': () => running().optIn(),
    'POST /kill': kill,
    async 'POST /page-end'() {
      await running().pageEnd()
      kill()
    },
    'POST /clear'() {
      kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }

  const server = createServer((request, response) => {
    respond(request).then(
      (value) => response.end(JSON.stringify(value ?? {})),
      (error: unknown) => {
        response.statusCode = 400
        response.end(JSON.stringify({ error: String(error) }))
      },
    )
  })
  async function respond(request: IncomingMessage): Promise<unknown> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const call = calls[`${request.method} ${request.url}`]
    if (call === undefined) throw new Error(`there is no ${request.method} ${request.url}`)
    const text = Buffer.concat(chunks).toString()
    return call((text === '' ? {} : JSON.parse(text)) as never)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      kill()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
