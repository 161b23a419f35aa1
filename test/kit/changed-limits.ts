// Loaded into a gateway or worker before its own code, to change limits of the contract, for which
// there are no settings.
import { limits } from '@intake/contract'

Object.assign(limits, JSON.parse(process.env['CHANGED_LIMITS'] ?? '{}'))
