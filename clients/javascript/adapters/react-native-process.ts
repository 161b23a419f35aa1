// A process with the client for React Native. The context of the client has only timers, `fetch`
// and `FormData`, as in React Native.
import { createContext, runInContext } from 'node:vm'
import type { createIntake, ReactNativeOptions } from '../src/react-native/index.ts'
import { bundleEntry } from './bundle.ts'
import type { SentAttachment } from './driver.ts'
import { methodsOf } from './methods-of.ts'
import { createFolderStorage, formOf, pickImages, type File } from './native-host.ts'
import { serveCalls } from './serve-calls.ts'

type Client = ReturnType<typeof createIntake>
/** React Native's `FormData`: a list of parts that `fetch` reads. */
class NativeFormData {
  parts: [string, string | File][] = []
  append(name: string, value: string | File): void {
    this.parts.push([name, value])
  }
}

function nativeFetch(url: string, { signal: _signal, body, ...init }: RequestInit) {
  const sent = body instanceof NativeFormData ? formOf(body.parts) : body
  return fetch(url, { ...init, body: sent ?? null })
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
    storageHangsMs,
    ...options
  }: ReactNativeOptions & { storage: string; aheadMs: number; storageHangsMs?: number }) {
    runInContext('var aheadMs = 0; const now = Date.now; Date.now = () => now() + aheadMs', context)
    runInContext(
      await bundleEntry('react-native', { minify: false, globalName: 'Intake' }),
      context,
    )
    setClock(aheadMs)
    const create = runInContext('Intake.createIntake', context) as typeof createIntake
    client = create({ ...options, storage: createFolderStorage(storage, storageHangsMs) })
  },
  clock: setClock,
  ...methodsOf(() => client),
  feedback: (text: string, email: string, attachments: SentAttachment[]) =>
    client.feedback({ text, email, attachments: pickImages(attachments) }),
})
