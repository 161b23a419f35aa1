// A process with a client for Node.
import { methodsOf } from './methods-of.ts'
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
  ...methodsOf(() => client!),
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
  identify: (userId: string | undefined) => client!.identify(userId),
  shutdown: () => client!.shutdown(),
  memory() {
    ;(globalThis as { gc?: () => void }).gc?.()
    return process.memoryUsage()
  },
  exit: (code: number) => process.exit(code),
}

serveCalls(methods)
