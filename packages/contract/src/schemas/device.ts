import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { datePattern, nullable, timestamp } from './fields.ts'

const text = () => Type.Optional(nullable<string>('string'))
const integer = () => Type.Optional(nullable<number | bigint>('integer', { format: 'int64' }))

const date = () =>
  Type.Optional(
    nullable<string>('string', {
      format: 'date',
      pattern: datePattern,
      description: 'YYYY-MM-DD, 1970 to 2199.',
    }),
  )

const documented = {
  os: text(),
  device_brand: text(),
  device_model: text(),
  android_version: text(),
  battery_level: Type.Optional(nullable<number>('number')),
  battery_state: text(),
  build_board: text(),
  build_bootloader: text(),
  build_fingerprint: text(),
  build_hardware: text(),
  build_host: text(),
  build_security_patch: date(),
  build_tags: text(),
  build_time: Type.Optional(timestamp),
  build_type: text(),
  build_user: text(),
  build_version_codename: text(),
  build_version_incremental: text(),
  bundle_name: text(),
  device: text(),
  first_install_time: Type.Optional(timestamp),
  is_emulator: Type.Optional(nullable<boolean>('boolean')),
  last_update_time: Type.Optional(timestamp),
  manufacturer: text(),
  product: text(),
  sdk_version: integer(),
  supported_abis: Type.Optional(
    nullable<string[]>('array', { items: { type: 'string' }, maxItems: limits.supportedAbis }),
  ),
  version_code: integer(),
  version_name: text(),
}

/** Properties of the device. All are optional, `null` means absent, unknown ones are kept. */
export const DeviceInformation = Type.Object(documented, {
  additionalProperties: true,
  description: 'Properties of the device. Unknown properties are kept.',
})

/** Names of the properties that have a typed column. */
export const documentedDeviceFields: ReadonlySet<string> = new Set(Object.keys(documented))

/** Names of the properties that contain a timestamp. */
export const timestampDeviceFields = [
  'build_time',
  'first_install_time',
  'last_update_time',
] as const
