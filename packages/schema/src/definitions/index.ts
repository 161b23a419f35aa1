import { deviceFields, type DeviceField } from '@intake/contract'
import type { Migration } from '../migrations/index.ts'
import { statementsOf, type Definition } from './definition.ts'
import { alertDefinitions } from './alerts.ts'
import { countDefinitions } from './counts.ts'
import { crashDefinitions } from './crashes.ts'
import { deletionDefinitions } from './deletions.ts'
import { deviceDefinitions } from './devices.ts'
import { outcomeDefinitions } from './outcomes.ts'
import { otherDefinitions } from './other-tables.ts'
import { rawDefinitions } from './raw-tables.ts'
import { recentDefinitions } from './recent.ts'
import { recordDefinitions } from './records.ts'

const definitionsFor = (fields: readonly DeviceField[]): Definition[] => [
  ...recordDefinitions(fields),
  ...deviceDefinitions(fields),
  ...crashDefinitions,
  ...recentDefinitions,
  ...deletionDefinitions,
  ...outcomeDefinitions,
  ...countDefinitions,
  ...alertDefinitions,
  ...otherDefinitions,
  ...rawDefinitions,
]

/** Views and comments may be edited in place: they are applied whenever they differ. */
export const createDefinitions = (fields: readonly DeviceField[]): Migration => ({
  name: 'definitions',
  statements: definitionsFor(fields).flatMap((definition) => statementsOf(definition)),
})

export const allDefinitions: readonly Definition[] = definitionsFor(deviceFields)

export const definitions = createDefinitions(deviceFields)
