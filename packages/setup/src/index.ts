export { setUp, type SetupOptions } from './set-up.ts'
export { SetupError } from './setup-error.ts'
