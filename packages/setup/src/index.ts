export { setUp } from './set-up.ts'
export { SetupError } from './setup-error.ts'
