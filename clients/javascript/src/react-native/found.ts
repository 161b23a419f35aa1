import type { AsyncStorageLike } from './async-keys.ts'
import type { DeviceInfoLike, ExpoModules } from './device.ts'

/**
 * Loads a module of the app. Metro adds the module to the bundle if the app has it. If the app does
 * not have it, Metro fails, unless the call is in a `try` and the name is a literal.
 */
declare const require: (name: string) => unknown

interface ReactNative {
  Platform?: { OS?: string }
  AppState?: {
    addEventListener(event: 'change', run: (state: string) => void): { remove(): void }
  }
}

export function findReactNative(): ReactNative {
  try {
    return require('react-native') as ReactNative
  } catch {
    return {}
  }
}

export function findAsyncStorage(): AsyncStorageLike | undefined {
  try {
    return presetOf(require('@react-native-async-storage/async-storage')) as AsyncStorageLike
  } catch {
    return undefined
  }
}

export function findDeviceInfo(): DeviceInfoLike | undefined {
  try {
    return presetOf(require('react-native-device-info')) as DeviceInfoLike
  } catch {
    return undefined
  }
}

export function findExpo(): ExpoModules {
  const expo: ExpoModules = {}
  try {
    expo.Device = require('expo-device') as Record<string, unknown>
  } catch {
    // The app does not have this module.
  }
  try {
    expo.Application = require('expo-application') as Record<string, unknown>
  } catch {
    // The app does not have this module.
  }
  try {
    expo.Battery = require('expo-battery') as Record<string, unknown>
  } catch {
    // The app does not have this module.
  }
  return expo
}

const presetOf = (module: unknown): unknown => (module as { default?: unknown }).default || module
