import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Owner } from '../owner.ts'
import type { Load } from './main.ts'
import type { LoadResult } from './tally.ts'

/** Controls the process that generates the load. */
export interface Generator {
  pid: number
  /**
   * Runs a load, and resolves to its result.
   *
   * @param onBegin called when everything is prepared, right before the first request
   * @throws if the load is not prepared after 30 seconds, if there is no result a minute after the
   * end of the load, or if the process has exited
   */
  run(load: Load, onBegin?: () => void): Promise<LoadResult>
}

const script = fileURLToPath(new URL('main.js', import.meta.url))

const prepareMs = 30_000
/** The time allowed after the end of a load: 30 s for pending requests, the rest for the result. */
const settleMs = 60_000

type Message = { prepared: true } | { result: LoadResult }

export function startGenerator(owner: Owner): Generator {
  const child = fork(script, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  owner.add(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const ended = exited.then(() => {
    throw new Error('the load generator has exited')
  })
  ended.catch(() => undefined)
  const receive = async (withinMs: number): Promise<Message> => {
    const message = once(child, 'message', { signal: AbortSignal.timeout(withinMs) }).catch(
      (cause: unknown) => {
        throw new Error(`the load generator did not respond within ${withinMs} ms`, { cause })
      },
    )
    return ((await Promise.race([message, ended])) as [Message])[0]
  }

  return {
    pid: child.pid as number,
    async run(load, onBegin) {
      child.send(load)
      await receive(prepareMs)
      onBegin?.()
      child.send({ begin: true })
      const message = await receive(load.seconds * 1_000 + settleMs)
      if ('result' in message) return message.result
      throw new Error('the load generator sent an unexpected message')
    },
  }
}
