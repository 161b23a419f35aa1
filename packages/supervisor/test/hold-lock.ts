// Locks the given folder, prints a line and keeps running.
import { lockDataDir } from '../src/lock.ts'

await lockDataDir(process.argv[2] ?? '.')
console.log('locked')
