/** The functions of `react-native-device-info` that the client uses; each may be missing. */
export type DeviceInfoLike = Record<string, unknown>

export interface ExpoModules {
  Device?: Record<string, unknown> | undefined
  Application?: Record<string, unknown> | undefined
  Battery?: Record<string, unknown> | undefined
}

type Fields = Record<string, unknown>

/**
 * Reads the documented properties from `react-native-device-info`, except `build_time` and
 * `build_user`, which the library does not have. Leaves out properties that the library does not
 * know: it returns `unknown` or -1 for them.
 */
export async function readDeviceInfo(library: DeviceInfoLike, os: string): Promise<Fields> {
  const ask = async (name: string): Promise<unknown> => {
    const method = library[name]
    try {
      const value: unknown =
        typeof method === 'function' ? await (method as () => unknown).call(library) : undefined
      return value === -1 || value === 'unknown' ? undefined : value
    } catch {
      return undefined
    }
  }
  const text = async (name: string) => {
    const value = await ask(name)
    return typeof value === 'string' ? value : undefined
  }
  const time = async (name: string) => printTime(Number(await ask(name)))
  const isAndroid = os === 'android'
  const power = Object((await ask('getPowerState')) || {}) as Fields
  const level = power['batteryLevel']
  const patch = await text('getSecurityPatch')
  const version = await text('getSystemVersion')
  const fields: Fields = {
    os: (await text('getSystemName')) || os,
    device_brand: await text('getBrand'),
    device_model: await text('getModel'),
    [isAndroid ? 'android_version' : 'os_version']: version,
    battery_level: typeof level === 'number' && level >= 0 ? Math.round(level * 100) : undefined,
    battery_state: power['batteryState'],
    bundle_name: await text('getApplicationName'),
    is_emulator: await ask('isEmulator'),
    first_install_time: await time('getFirstInstallTime'),
    last_update_time: await time('getLastUpdateTime'),
    version_code: integer(await ask('getBuildNumber')),
    version_name: await text('getVersion'),
    supported_abis: await ask('supportedAbis'),
  }
  if (!isAndroid) return { ...fields, manufacturer: await text('getManufacturer') }
  return {
    ...fields,
    build_board: await text('getDeviceId'),
    build_bootloader: await text('getBootloader'),
    build_fingerprint: await text('getFingerprint'),
    build_hardware: await text('getHardware'),
    build_host: await text('getHost'),
    build_security_patch: /^\d{4}-\d\d-\d\d$/.test(patch || '') ? patch : undefined,
    build_tags: await text('getTags'),
    build_type: await text('getType'),
    build_version_codename: await text('getCodename'),
    build_version_incremental: await text('getIncremental'),
    device: await text('getDevice'),
    manufacturer: await text('getManufacturer'),
    product: await text('getProduct'),
    sdk_version: integer(await ask('getApiLevel')),
  }
}

/** Reads documented properties from Expo's modules, which have about two thirds of them. */
export async function readExpo({ Device, Application, Battery }: ExpoModules): Promise<Fields> {
  const device = Device || {}
  const application = Application || {}
  const ask = async (library: Fields | undefined, name: string): Promise<unknown> => {
    const method = library && library[name]
    if (typeof method !== 'function') return undefined
    try {
      return await (method as () => unknown).call(library)
    } catch {
      return undefined
    }
  }
  const isAndroid = device['osName'] === 'Android'
  const level = await ask(Battery, 'getBatteryLevelAsync')
  const states = ['unknown', 'unplugged', 'charging', 'full']
  const state = await ask(Battery, 'getBatteryStateAsync')
  const isDevice = device['isDevice']
  return {
    os: device['osName'],
    device_brand: device['brand'],
    device_model: device['modelName'],
    [isAndroid ? 'android_version' : 'os_version']: device['osVersion'],
    battery_level: typeof level === 'number' && level >= 0 ? Math.round(level * 100) : undefined,
    battery_state: typeof state === 'number' ? states[state] : undefined,
    build_fingerprint: device['osBuildFingerprint'],
    build_version_incremental: isAndroid ? device['osInternalBuildId'] : undefined,
    bundle_name: application['applicationName'],
    device: isAndroid ? device['designName'] : undefined,
    first_install_time: printDate(await ask(Application, 'getInstallationTimeAsync')),
    is_emulator: typeof isDevice === 'boolean' ? !isDevice : undefined,
    last_update_time: printDate(await ask(Application, 'getLastUpdateTimeAsync')),
    manufacturer: device['manufacturer'],
    product: device['productName'],
    sdk_version: integer(device['platformApiLevel']),
    supported_abis: device['supportedCpuArchitectures'],
    version_code: integer(application['nativeBuildVersion']),
    version_name: application['nativeApplicationVersion'],
  }
}

/**
 * Returns a value as a positive integer; undefined if it is not one, such as the build number 1.2.
 * The documented properties `version_code` and `sdk_version` are integers.
 */
const integer = (value: unknown) =>
  Number.isSafeInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined

const printTime = (ms: number) => (ms > 0 ? new Date(ms).toISOString() : undefined)
const printDate = (date: unknown) => (date instanceof Date ? printTime(date.getTime()) : undefined)
