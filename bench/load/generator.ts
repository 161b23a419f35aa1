import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Owner } from '../owner.ts'
import type { Load } from './main.ts'
import type { LoadResult } from './tally.ts'

/** The process that makes the load, seen from the bench. */
export interface Generator {
  pid: number
  /** @param onBegin called when everything is prepared, right before the first request */
  run(load: Load, onBegin?: () => void): Promise<LoadResult>
}

const script = fileURLToPath(new URL('main.js', import.meta.url))

type Message = { prepared: unknown } | { result: LoadResult }

export function startGenerator(owner: Owner): Generator {
  const child = fork(script, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  owner.add(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const ended = exited.then(() => {
    throw new Error('the load generator has ended')
  })
  ended.catch(() => undefined)
  const receive = async (): Promise<Message> => {
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [Message]
    return message
  }

  return {
    pid: child.pid as number,
    async run(load, onBegin) {
      child.send(load)
      await receive()
      onBegin?.()
      child.send({ begin: true })
      const message = await receive()
      if ('result' in message) return message.result
      throw new Error('the load generator answered out of turn')
    },
  }
}
