import { createClient } from '../core/client.ts'
import { logDevice } from '../core/device-fields.ts'
import { addDrops } from '../core/drops.ts'
import { createFetchTransport } from '../core/fetch-transport.ts'
import type { Intake, IntakeOptions } from '../core/options.ts'
import type { Ports, TimeSource } from '../core/ports.ts'
import { noStorage } from '../core/with-fallback.ts'
import { fillRandom } from '../core/random.ts'
import { exchangeOrGiveUp } from './exchange.ts'
import { createFormTransport } from './form-transport.ts'
import type { AsyncStorageLike } from './async-keys.ts'
import { createAsyncStorage } from './async-storage.ts'
import { readDeviceInfo, readExpo, type DeviceInfoLike, type ExpoModules } from './device.ts'
import { findAsyncStorage, findDeviceInfo, findExpo, findReactNative } from './found.ts'

export * from '../core/options.ts'
export type { AsyncStorageLike, DeviceInfoLike, ExpoModules }

/**
 * An image as image pickers return it. If the file at `uri` does not exist when the feedback is
 * sent, the text is sent without images.
 */
export interface ReactNativeAttachment {
  uri: string
  name?: string | null | undefined
  type?: string | null | undefined
}

export interface ReactNativeOptions extends IntakeOptions {
  /**
   * Where records wait. Default: `@react-native-async-storage/async-storage` if the app has it,
   * else memory.
   */
  storage?: AsyncStorageLike | 'memory' | undefined
  /** The device library. Default: `react-native-device-info` if the app has it. */
  deviceInfo?: DeviceInfoLike | undefined
  /**
   * The Expo modules. Default: those of `expo-device`, `expo-application` and `expo-battery` that
   * the app has.
   */
  expo?: ExpoModules | undefined
}

/** About how long an app keeps running after it moves to the background, in milliseconds. */
const backgroundMs = 5000

/**
 * Creates a client for React Native. The client does no I/O before its first record or the next
 * turn of the event loop.
 */
export function createIntake(options: ReactNativeOptions): Intake<ReactNativeAttachment> {
  const { Platform, AppState } = findReactNative()
  const { storage = findAsyncStorage() || 'memory', expo = findExpo() } = options
  const { deviceInfo = findDeviceInfo() } = options
  const os = (Platform && Platform.OS) || ''
  const ports: Ports<ReactNativeAttachment> = {
    storage:
      storage === 'memory'
        ? noStorage
        : createAsyncStorage(storage, `intake.${options.bundleIdentifier}.`, () =>
            addDrops(client.state, 'damaged', 1),
          ),
    transport: createFormTransport(
      createFetchTransport(options, {
        exchange: exchangeOrGiveUp((url, init) => fetch(url, init), time),
      }).transport,
      (count) => addDrops(client.state, 'invalid_attachment', count),
    ),
    ...time,
    random: fillRandom,
    device: async () => ({
      os: os || undefined,
      ...(await readExpo(expo)),
      ...(deviceInfo && (await readDeviceInfo(deviceInfo, os))),
    }),
    logDevice,
    runSuffix: '',
    writeDelayMs: 50,
    pageEndBytes: () => 0,
    keepAttachment(given) {
      const { uri, name, type } = Object(given) as Partial<ReactNativeAttachment>
      if (typeof uri !== 'string') return undefined
      return { uri, name: name || 'image', type: type || 'image/jpeg' }
    },
    form: (payload, attachments) => ({ payload, attachments }),
    end() {
      if (subscription) subscription.remove()
    },
  }
  const client = createClient(options, ports)
  const subscription =
    AppState &&
    AppState.addEventListener('change', (state) => {
      if (state === 'active') client.wake()
      else void client.flush({ timeoutMs: backgroundMs })
    })
  return client
}

const time: TimeSource = {
  now: () => Date.now(),
  monotonic: () => (typeof performance === 'undefined' ? Date.now() : performance.now()),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout(timer) {
    // Checks that there is a timer, because Hermes' own `clearTimeout` throws if its argument is
    // not a number.
    if (timer !== undefined) clearTimeout(timer as number)
  },
}
