// Locks the folder it is given, says so and stays.
import { lockDataDir } from '../src/lock.ts'

await lockDataDir(process.argv[2] ?? '.')
console.log('locked')
