import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { StartError } from '../supervisor/start-error.ts'

const othersMay = 0o077

/**
 * Creates the data directory. Only its owner can enter it, because engines write files into it that
 * all users of the machine could otherwise read. Other users lose their access to an existing
 * directory if it is empty or was a data directory before.
 *
 * @throws {StartError} if it cannot be used, belongs to another user, or others can enter it and it
 * was never a data directory
 */
export function makeDataDir(path: string): void {
  const refusal = closeDataDir(path)
  if (refusal !== undefined) throw new StartError(refusal)
}

/** Returns why the directory cannot be used; undefined if other users have no access now. */
function closeDataDir(path: string): string | undefined {
  const another = 'set INTAKE_DATA_DIR to another folder.'
  // Redis would start without its configuration, and ClickHouse would refuse inserts.
  const [wildcard] = /[*?[{]/.exec(path) ?? []
  if (wildcard !== undefined)
    return `The path of the data directory ${path} has a ${wildcard}, which Redis or ClickHouse takes for a pattern: ${another}`
  try {
    makeDir(path)
    accessSync(`${path}/`, constants.W_OK) // with the slash, a file fails with ENOTDIR
    const { mode, uid } = statSync(path)
    // Refuses a directory of another user, because that user may know the passwords in it. Windows
    // has no user ids, so this is not checked there.
    if (process.getuid !== undefined && uid !== process.getuid())
      return `The data directory ${path} belongs to another user: ${another}`
    if ((mode & othersMay) === 0) return undefined
    if (!isOfIntake(path))
      return `Other users can enter the data directory ${path}, which also has other files: close it with chmod 700, or ${another}`
    chmodSync(path, 0o700)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return `The data directory ${path} cannot be created or written (${code}): ${another}`
  }
}

/** Node's `recursive` would report ENOENT for every reason, and below /proc it does not return. */
function makeDir(path: string): void {
  if (existsSync(path)) return
  makeDir(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(path)) throw error // otherwise another process was faster
  }
}

function isOfIntake(path: string) {
  // Ignores `lost+found`, which is in the root folder of every disk.
  const names = readdirSync(path).filter((name) => name !== 'lost+found')
  return names.length === 0 || names.includes('format.json')
}
