// A process with a client for Node.
import { serveCalls } from './serve-calls.ts'
import { createNodeClient, type NodeOptions } from '../src/node/index.ts'

let aheadMs = 0
let client: ReturnType<typeof createNodeClient> | undefined

const methods: Record<string, (...args: never[]) => unknown> = {
  init(options: NodeOptions & { storage: string; aheadMs?: number }) {
    aheadMs = options.aheadMs ?? 0
    client = createNodeClient(options, {
      storage: options.storage,
      time: {
        now: () => Date.now() + aheadMs,
        monotonic: () => performance.now(),
        setTimeout: (run, ms) => setTimeout(run, ms),
        clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
      },
    })
  },
  clock: (ms: number) => void (aheadMs = ms),
  async log(event: string, params: Record<string, unknown>) {
    const id = client!.log(event, params)
    await client!.stored()
    return { id }
  },
  async logs(from: number, count: number, event: string) {
    for (let n = from; n < from + count; n++) client!.log(event, { n })
    await client!.stored()
    return { stored: count }
  },
  feedback: (
    text: string,
    email: string,
    attachments: { name: string; type: string; base64: string }[],
  ) =>
    client!.feedback({
      text,
      email,
      attachments: attachments.map(({ base64, ...rest }) => ({
        ...rest,
        data: Buffer.from(base64, 'base64'),
      })),
    }),
  flush: (timeoutMs: number) => client!.flush({ timeoutMs }),
  stats: () => client!.stats(),
  identify: (userId: string | undefined) => client!.identify(userId),
  optOut: () => client!.optOut(),
  optIn: () => client!.optIn(),
  shutdown: () => client!.shutdown(),
  memory() {
    ;(globalThis as { gc?: () => void }).gc?.()
    return process.memoryUsage()
  },
  exit: (code: number) => process.exit(code),
}

serveCalls(methods)
