import { timestampForm } from './limits.ts'

export interface DeviceField {
  name: string
  kind: 'text' | 'number' | 'integer' | 'boolean' | 'time' | 'date' | 'texts'
  description: string
  /** Whether our clients send it with feedback only; log events would become too large. */
  isFeedbackOnly?: true
}

const field = (kind: DeviceField['kind']) => (description: string) => ({ kind, description })
const text = field('text')
const number = field('number')
const integer = field('integer')
const boolean = field('boolean')
const texts = field('texts')
/** Any string is accepted: the value may be wrong, and a shipped app cannot be corrected. */
const moment = (kind: 'date' | 'time', description: string) =>
  field(kind)(
    `${description} Any other string is kept in \`device_extra\`; an empty one counts as absent.`,
  )
const date = (description: string) => moment('date', `${description} YYYY-MM-DD, 1970 to 2199.`)
const time = (description: string) => moment('time', `${description} ${timestampForm}`)

const feedbackOnly = <T>(described: T) => ({ ...described, isFeedbackOnly: true as const })

/**
 * Validation, OpenAPI, the flat views and comments of columns follow from this list, and by `npm
 * run generate` those of the clients. A new property also needs a migration that widens the column
 * `device` (CONTRIBUTING.md).
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
  build_hardware: feedbackOnly(text('Hardware of the Android build.')),
  build_host: feedbackOnly(text('Host that made the Android build.')),
  build_security_patch: feedbackOnly(date('Level of security patches of the Android build.')),
  build_tags: feedbackOnly(text('Tags of the Android build.')),
  build_time: feedbackOnly(time('When the Android build was made.')),
  build_type: feedbackOnly(text('Type of the Android build, such as user.')),
  build_user: feedbackOnly(text('User who made the Android build.')),
  build_version_codename: feedbackOnly(text('Codename of the Android version.')),
  build_version_incremental: feedbackOnly(text('Incremental version of the Android build.')),
  bundle_name: text('Name of the application.'),
  device: text('Name of the device in the Android build.'),
  first_install_time: feedbackOnly(time('When the application was first installed.')),
  is_emulator: feedbackOnly(boolean('Whether the device is an emulator.')),
  last_update_time: feedbackOnly(time('When the application was last updated.')),
  manufacturer: text('Manufacturer of the device.'),
  product: text('Product name in the Android build.'),
  sdk_version: integer('API level of Android.'),
  supported_abis: texts('Instruction sets that the device supports.'),
  version_code: integer('Number of the application build.'),
  version_name: text('Version of the application.'),
}

export type DeviceFieldName = keyof typeof documented

export const deviceFields: readonly DeviceField[] = Object.entries(documented).map(
  ([name, described]) => ({ name, ...described }),
)

export const documentedDeviceFields: ReadonlySet<string> = new Set(Object.keys(documented))

export const momentDeviceFields: readonly DeviceField[] = deviceFields.filter(
  ({ kind }) => kind === 'time' || kind === 'date',
)
