// This module is loaded into a gateway or worker before its own code. It changes limits of the
// contract for which there are no settings.
import { limits } from '@intake/contract'

Object.assign(limits, JSON.parse(process.env['CHANGED_LIMITS'] ?? '{}'))
