import type { DeviceField } from '@intake/contract'
import type { ColumnComments } from './definition.ts'

/** Returns the name of a plain column: `os` becomes `device_os`, `device_model` keeps its name. */
const plainNameOf = (field: string) => (field.startsWith('device_') ? field : `device_${field}`)

export const plainColumns = (fields: readonly DeviceField[]): ColumnComments =>
  Object.fromEntries(fields.map(({ name, description }) => [plainNameOf(name), description]))

export const plainSelect = (fields: readonly DeviceField[]): string =>
  fields.map(({ name }) => `device.${name} AS ${plainNameOf(name)}`).join(', ')
