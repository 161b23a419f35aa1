import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { transform } from 'esbuild'
import { bundleEntry } from './bundle.ts'
import { createCalls, type Reply } from './calls.ts'
import type { SentAttachment } from './driver.ts'
import { createFolderStorage, formOf, pickImages, type File } from './native-host.ts'
import type { ClientProcess } from './start-process.ts'

const script = readFileSync(new URL('hermes-client.js', import.meta.url), 'utf8')
/**
 * Every message that the script prints begins with this mark. Lines without the mark are values
 * that Hermes prints in its interactive mode for every line of input.
 */
const mark = '@@'

/** What the script prints. */
type Message =
  | ({ call: number } & Reply)
  | { ask: number; operation: string; args: never[] }
  | { timer: number; ms: number }
  | { clear: number }
type FetchBody = string | [string, string | File][]

/**
 * Compiles the React Native client into a script that Hermes can run. Converts async functions into
 * generators, as React Native's Babel preset does.
 */
export async function compileForHermes(): Promise<string> {
  const bundle = await bundleEntry('react-native', { minify: false, globalName: 'Intake' })
  const { code } = await transform(`${bundle}\n${script}`, {
    supported: { 'async-await': false },
    target: 'es2019',
  })
  return code
}

/**
 * Starts Hermes with a client. The engine has no network, files or timers, so the process that
 * calls this function provides them.
 *
 * @param code from `compileForHermes`
 */
export function startHermesProcess(engine: string, code: string): ClientProcess {
  const child = spawn(engine, [], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const ended = new AbortController()
  const calls = createCalls(exited)
  const timers = new Map<number, NodeJS.Timeout>()
  let operations: Record<string, (...args: never[]) => Promise<unknown>> = {}

  const evaluate = (text: string) => child.stdin.write(`${escaped(text)}\n`)
  const receive = (message: object) => {
    if (!ended.signal.aborted) evaluate(`receive(${JSON.stringify(JSON.stringify(message))})`)
  }

  function handle(message: Message): void {
    if ('call' in message) calls.settle(message.call, message)
    else if ('timer' in message) {
      const { timer, ms } = message
      timers.set(
        timer,
        setTimeout(() => receive({ timer }), ms),
      )
    } else if ('clear' in message) clearTimeout(timers.get(message.clear))
    else {
      const { ask, operation, args } = message
      operations[operation]!(...args).then(
        (result) => receive({ ask, result }),
        (error: unknown) => receive({ ask, error: String(error) }),
      )
    }
  }

  createInterface({ input: child.stdout }).on('line', (line) => {
    const at = line.indexOf(mark)
    if (at >= 0) handle(JSON.parse(line.slice(at + mark.length)) as Message)
  })
  // Ignores the error of writing to a process that was killed.
  child.stdin.on('error', () => undefined)
  evaluate(`(0, eval)(${JSON.stringify(code)})`)

  return {
    call(method, ...args) {
      if (method === 'init') {
        const [{ storage, storageHangsMs }] = args as [{ storage: string; storageHangsMs?: number }]
        operations = {
          ...createFolderStorage(storage, storageHangsMs),
          fetch: fetchUntil(ended.signal),
        }
      }
      const given =
        method === 'feedback'
          ? [...args.slice(0, 2), pickImages(args[2] as SentAttachment[])]
          : args
      return calls.call((call) => receive({ call, method, args: given }))
    },
    async kill() {
      ended.abort()
      for (const timer of timers.values()) clearTimeout(timer)
      child.kill('SIGKILL')
      await exited
    },
    exited,
  }
}

/** Fetches for Hermes, until the signal aborts. */
const fetchUntil =
  (signal: AbortSignal) =>
  async (url: string, { body, ...init }: RequestInit & { body: FetchBody }) => {
    const sent = typeof body === 'string' ? body : formOf(body)
    const response = await fetch(url, { ...init, body: sent, signal })
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    }
  }

/**
 * Escapes all characters of JSON that are not ASCII, so that the encoding of the pipe does not
 * matter.
 */
const escaped = (text: string) =>
  text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
