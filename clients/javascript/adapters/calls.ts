export interface Reply {
  result?: unknown
  error?: string
}

/**
 * The open calls of a process. `call` passes the number of a new call to `send`, and settles when
 * `settle` gets the reply with this number. Rejects when the process has ended.
 */
export function createCalls(exited: Promise<unknown>) {
  const open = new Map<number, (reply: Reply) => void>()
  let last = 0
  return {
    call: <Result>(send: (id: number, reject: (error: Error) => void) => void): Promise<Result> =>
      new Promise((resolve, reject) => {
        const id = ++last
        open.set(id, ({ result, error }) => {
          if (error === undefined) resolve(result as Result)
          else reject(new Error(error))
        })
        send(id, reject)
        void exited.then(() => reject(new Error('the process has ended')))
      }),
    settle(id: number, reply: Reply): void {
      open.get(id)?.(reply)
      open.delete(id)
    },
  }
}
