// Loaded into a gateway or worker before its own code: other limits than those of the contract, which no setting changes.
import { limits } from '@intake/contract'

Object.assign(limits, JSON.parse(process.env['CHANGED_LIMITS'] ?? '{}'))
