export type Methods = Record<string, (...args: never[]) => unknown>

/** Lets the parent process call methods by messages. This process ends when its parent does. */
export function serveCalls(methods: Methods): void {
  process.on('message', ({ id, method, args }: { id: number; method: string; args: never[] }) => {
    void (async () => {
      try {
        process.send!({ id, result: await methods[method]!(...args) })
      } catch (error) {
        process.send!({ id, error: String(error) })
      }
    })()
  })
  process.on('disconnect', () => process.exit())
}
