import { deviceFields, type DeviceField } from '@intake/contract'
import type { Migration } from '../migrations/migration.ts'
import { deviceStatements } from './devices.ts'
import { outcomeStatements } from './outcomes.ts'
import { otherTableStatements } from './other-tables.ts'
import { recordStatements } from './records.ts'

/**
 * What can be replaced at any time without touching data: views and comments. They are applied
 * after the migrations whenever they differ from those applied last, so they may change in place.
 */
export const createDefinitions = (fields: readonly DeviceField[]): Migration => ({
  name: 'definitions',
  statements: [
    ...recordStatements(fields),
    ...deviceStatements,
    ...outcomeStatements,
    ...otherTableStatements,
  ],
})

export const definitions = createDefinitions(deviceFields)
