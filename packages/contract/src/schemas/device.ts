import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { nullable, timestampForm } from './fields.ts'

const text = (description: string) => Type.Optional(nullable<string>('string', { description }))
const number = (description: string) => Type.Optional(nullable<number>('number', { description }))
const integer = (description: string) =>
  Type.Optional(nullable<number | bigint>('integer', { format: 'int64', description }))
const boolean = (description: string) =>
  Type.Optional(nullable<boolean>('boolean', { description }))
/**
 * A date or time that the phone reports. Any string is accepted, because the value may be wrong and
 * a shipped app cannot be corrected. Intake defines these formats itself to select the type of the
 * column. Validators do not know them and ignore them.
 */
const moment = (format: 'device-date' | 'device-time', description: string) =>
  Type.Optional(
    nullable<string>('string', {
      format,
      description: `${description} Any other string is kept in \`device_extra\`; an empty one counts as absent.`,
    }),
  )
const date = (description: string) =>
  moment('device-date', `${description} YYYY-MM-DD, 1970 to 2199.`)
const time = (description: string) => moment('device-time', `${description} ${timestampForm}`)
const texts = (description: string) =>
  Type.Optional(
    nullable<string[]>('array', {
      items: { type: 'string' },
      maxItems: limits.supportedAbis,
      description,
    }),
  )

/**
 * The documented properties. Validation, OpenAPI, the flat views and the comments of their columns
 * are derived from this list. A new property also needs a migration that widens the column `device`
 * (CONTRIBUTING.md).
 */
const documented = {
  os: text('Operating system.'),
  device_brand: text('Brand of the device.'),
  device_model: text('Model of the device.'),
  android_version: text('Version of Android.'),
  battery_level: number('Charge of the battery, in the unit that the client uses.'),
  battery_state: text('State of the battery, such as charging.'),
  build_board: text('Board of the Android build.'),
  build_bootloader: text('Bootloader of the Android build.'),
  build_fingerprint: text('Fingerprint of the Android build.'),
  build_hardware: text('Hardware of the Android build.'),
  build_host: text('Host that made the Android build.'),
  build_security_patch: date('Level of security patches of the Android build.'),
  build_tags: text('Tags of the Android build.'),
  build_time: time('When the Android build was made.'),
  build_type: text('Type of the Android build, such as user.'),
  build_user: text('User who made the Android build.'),
  build_version_codename: text('Codename of the Android version.'),
  build_version_incremental: text('Incremental version of the Android build.'),
  bundle_name: text('Name of the application.'),
  device: text('Name of the device in the Android build.'),
  first_install_time: time('When the application was first installed.'),
  is_emulator: boolean('Whether the device is an emulator.'),
  last_update_time: time('When the application was last updated.'),
  manufacturer: text('Manufacturer of the device.'),
  product: text('Product name in the Android build.'),
  sdk_version: integer('API level of Android.'),
  supported_abis: texts('Instruction sets that the device supports.'),
  version_code: integer('Number of the application build.'),
  version_name: text('Version of the application.'),
}

/**
 * Properties of the device. All are optional, `null` means absent, and unknown properties are kept.
 */
export const DeviceInformation = Type.Object(documented, {
  additionalProperties: true,
  description: 'Properties of the device. Unknown properties are kept.',
})

export interface DeviceField {
  name: string
  kind: 'text' | 'number' | 'integer' | 'boolean' | 'time' | 'date' | 'texts'
  description: string
}

/**
 * The kind of a property (value), by the format in the property's schema (key). If the property has
 * no format, the key is its type.
 */
const kinds: Readonly<Record<string, DeviceField['kind']>> = {
  string: 'text',
  number: 'number',
  int64: 'integer',
  boolean: 'boolean',
  'device-time': 'time',
  'device-date': 'date',
  array: 'texts',
}

/** The properties that have a typed column. */
export const deviceFields: readonly DeviceField[] = Object.entries(documented).map(
  ([name, schema]) => {
    const { type, format, description } = schema as unknown as {
      type: [string, 'null']
      format?: string
      description: string
    }
    const kind = kinds[format ?? type[0]]
    if (kind === undefined) throw new Error(`no kind for the device field ${name}`)
    return { name, kind, description }
  },
)

/** Names of the properties that have a typed column. */
export const documentedDeviceFields: ReadonlySet<string> = new Set(Object.keys(documented))

/** The properties that contain a date or a time. */
export const momentDeviceFields: readonly DeviceField[] = deviceFields.filter(
  ({ kind }) => kind === 'time' || kind === 'date',
)
