import { runIntake } from './run.ts'

await runIntake(process.argv.slice(2))
