import { Type, type TOptional, type TUnsafe } from 'typebox'
import { deviceFields, type DeviceField, type DeviceFieldName } from '../device-fields.ts'
import { limits } from '../limits.ts'
import { nullable } from './fields.ts'

/** Intake's own formats `device-date` and `device-time` select columns; validators ignore them. */
const schemas = {
  text: (description) => nullable('string', { description }),
  number: (description) => nullable('number', { description }),
  integer: (description) => nullable('integer', { format: 'int64', description }),
  boolean: (description) => nullable('boolean', { description }),
  date: (description) => nullable('string', { format: 'device-date', description }),
  time: (description) => nullable('string', { format: 'device-time', description }),
  texts: (description) =>
    nullable('array', { items: { type: 'string' }, maxItems: limits.supportedAbis, description }),
} satisfies Record<DeviceField['kind'], (description: string) => object>

const properties = Object.fromEntries(
  deviceFields.map(({ name, kind, description }) => [
    name,
    Type.Optional(schemas[kind](description)),
  ]),
) as Record<DeviceFieldName, TOptional<TUnsafe>>

/** All properties are optional, `null` means absent, and unknown ones are kept. */
export const DeviceInformation = Type.Object(properties, {
  additionalProperties: true,
  description: `Properties of the device. Unknown properties, and texts of more than ${limits.deviceTextLength} characters, are kept in \`device_extra\`.`,
})
