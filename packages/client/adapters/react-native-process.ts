// A process with the client for React Native. Its context has only timers, `fetch` and `FormData`,
// as React Native has them. AsyncStorage is a folder with a file for each key.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import type {
  AsyncStorageLike,
  createIntake,
  ReactNativeOptions,
} from '../src/react-native/index.ts'
import { bundleEntry } from './bundle.ts'
import type { SentAttachment } from './driver.ts'
import { serveCalls } from './serve-calls.ts'

type Client = ReturnType<typeof createIntake>
interface File {
  uri: string
  name: string
  type: string
}

/** React Native's `FormData`: a list of parts that `fetch` reads. */
class NativeFormData {
  parts: [string, string | File][] = []
  append(name: string, value: string | File): void {
    this.parts.push([name, value])
  }
}

function nativeFetch(url: string, { signal: _signal, body, ...init }: RequestInit) {
  if (!(body instanceof NativeFormData)) return fetch(url, { ...init, body: body ?? null })
  const form = new FormData()
  for (const [name, value] of body.parts) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, new Blob([readFileSync(value.uri)], { type: value.type }), value.name)
  }
  return fetch(url, { ...init, body: form })
}

function createFolderStorage(dir: string): AsyncStorageLike {
  const pathOf = (key: string) => join(dir, encodeURIComponent(key))
  const isFile = (name: string) => !name.endsWith('~')
  return {
    async getItem(key) {
      try {
        return readFileSync(pathOf(key), 'utf8')
      } catch {
        return null
      }
    },
    async setItem(key, value) {
      mkdirSync(dir, { recursive: true })
      writeFileSync(`${pathOf(key)}~`, value)
      renameSync(`${pathOf(key)}~`, pathOf(key))
    },
    async removeItem(key) {
      rmSync(pathOf(key), { force: true })
    },
    async getAllKeys() {
      try {
        return readdirSync(dir).filter(isFile).map(decodeURIComponent)
      } catch {
        return []
      }
    },
  }
}

let client: Client
const context = createContext({
  setTimeout,
  clearTimeout,
  fetch: nativeFetch,
  FormData: NativeFormData,
})
const setClock = (ms: number) => runInContext(`aheadMs = ${ms}`, context)

serveCalls({
  async init({
    storage,
    aheadMs,
    ...options
  }: ReactNativeOptions & { storage: string; aheadMs: number }) {
    runInContext('var aheadMs = 0; const now = Date.now; Date.now = () => now() + aheadMs', context)
    runInContext(
      await bundleEntry('react-native', { minify: false, globalName: 'Intake' }),
      context,
    )
    setClock(aheadMs)
    const create = runInContext('Intake.createIntake', context) as typeof createIntake
    client = create({ ...options, storage: createFolderStorage(storage) })
  },
  clock: setClock,
  async log(event: string, params: Record<string, unknown>) {
    const id = client.log(event, params)
    await client.stored()
    return { id }
  },
  async logs(from: number, count: number, event: string) {
    for (let n = from; n < from + count; n++) client.log(event, { n })
    await client.stored()
    return { stored: count }
  },
  feedback: (text: string, email: string, attachments: SentAttachment[]) =>
    client.feedback({
      text,
      email,
      attachments: attachments.map(({ base64, ...rest }, index) => {
        const uri = join(tmpdir(), `intake-picture-${process.pid}-${index}-${Date.now()}`)
        writeFileSync(uri, Buffer.from(base64, 'base64'))
        return { ...rest, uri }
      }),
    }),
  flush: (timeoutMs: number) => client.flush({ timeoutMs }),
  stats: () => client.stats(),
  optOut: () => client.optOut(),
  optIn: () => client.optIn(),
})
