import { createTestClock, type TestClock } from '@intake/test-kit/test-clock'
import { createClient, type Client } from '../src/core/client.ts'
import type { IntakeOptions } from '../src/core/options.ts'
import type { Ports, Storage } from '../src/core/ports.ts'
import { fillRandom } from '../src/core/random.ts'
import { createFakeIntake, type FakeIntake } from './fake-intake.ts'

export const serverStart = Date.parse('2026-11-21T12:00:00.000Z')

export interface Host {
  time: TestClock
  server: FakeIntake
  storage: Storage
  /** How many milliseconds the device's clock is ahead. */
  ahead: number
  /** Ends the previous client without warning, and starts a client on the device's storage. */
  start(options?: Partial<IntakeOptions>, ports?: Partial<Ports<unknown>>): Client<unknown>
}

export const deviceUuid = 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10'

const baseOptions: IntakeOptions = {
  url: 'http://intake.test',
  apiKey: 'ik_test',
  bundleIdentifier: 'com.example.app',
  deviceUuid,
}

/** Creates a device with a clock and storage in memory, and a server that it can reach. */
export function createHost(): Host {
  const time = createTestClock()
  const host: Host = {
    time,
    server: createFakeIntake(() => serverStart + time.now()),
    storage: createDeviceStorage(),
    ahead: 0,
    start: (options, ports) =>
      createClient({ ...baseOptions, ...options }, { ...portsOf(host), ...ports }),
  }
  return host
}

/** Creates a storage in memory that numbers events, as the storage of a device does. */
export function createDeviceStorage(): Storage {
  const values = new Map<string, unknown>()
  const get = async (key: string) => values.get(key)
  let last = 0
  return {
    list: async () => [...values.keys()],
    read: get as Storage['read'],
    async append(name, isNew, count, print) {
      const before = isNew ? '' : values.get(name)
      if (before === undefined) return false
      values.set(name, `${before as string}${print(last + 1)}`)
      last += count
      return true
    },
    async rename(from, to) {
      const text = values.get(from)
      if (values.delete(from)) values.set(to, text)
      return text !== undefined
    },
    remove: async (name) => values.delete(name),
    get,
    async set(key, value, isNew) {
      if (isNew && values.has(key)) throw new Error('not new')
      values.set(key, value)
    },
  }
}

export function portsOf(host: Host): Ports<unknown> {
  const { time } = host
  return {
    storage: host.storage,
    transport: (request) => host.server.transport(request),
    now: () => serverStart + time.now() + host.ahead,
    monotonic: () => time.now(),
    setTimeout: (run, ms) => time.setTimeout(run, ms),
    clearTimeout: (timer) => time.clearTimeout(timer as object),
    random: fillRandom,
    device: async () => ({ os: 'Test' }),
    runSuffix: '',
    writeDelayMs: 0,
    pageEndBytes: () => 0,
    keepAttachment: (attachment) => attachment,
    end: () => undefined,
    form: (payload, attachments) => ({ payload, attachments }),
  }
}
