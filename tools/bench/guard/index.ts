export { OptionError } from '../option-values.ts'
export { guard } from './guard.ts'
export { readGuardOptions } from './options.ts'
