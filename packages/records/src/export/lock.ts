import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { encode, readJson, type ExportTarget } from './target.ts'

const lockPath = 'lock.json'

/**
 * A killed exporter leaves its lock, which counts for this long after its last write, unless its
 * process is known.
 */
const leaseMs = 15 * 60_000

interface Lock {
  id: string
  host: string
  pid: number
  until: string
}

/**
 * Keeps others from writing into the target. Resolves to the target, whose writes reject when
 * another exporter has the lock, which began at the same moment or while this one was frozen, or if
 * the folder was renamed.
 * @throws {Error} if another exporter writes into the target
 */
export async function lock(
  target: ExportTarget,
): Promise<{ owned: ExportTarget; unlock: () => Promise<void> }> {
  const own = { id: randomUUID(), host: hostname(), pid: process.pid }
  const isOwn = async () => (await readJson<Lock>(target, lockPath))?.id === own.id
  const hold = () => {
    const until = new Date(Date.now() + leaseMs).toISOString()
    return target.write(lockPath, encode({ ...own, until } satisfies Lock))
  }
  const renew = async () => {
    if (await isOwn()) return hold()
    throw new Error('Another export has just begun here, or the target was renamed.')
  }
  requireFree(await readJson<Lock>(target, lockPath), own)
  await hold()
  const owned: ExportTarget = {
    ...target,
    write: (path, bytes) => renew().then(() => target.write(path, bytes)),
    remove: (path) => renew().then(() => target.remove(path)),
  }
  const unlock = async () => {
    if (await isOwn()) await target.remove(lockPath)
  }
  return { owned, unlock }
}

function requireFree(held: Lock | undefined, own: Pick<Lock, 'host' | 'pid'>): void {
  if (held === undefined || Date.parse(held.until) <= Date.now()) return
  if (held.host === own.host && (held.pid === own.pid || !isRunning(held.pid))) return
  throw new Error(
    `Another export writes into this target (process ${held.pid} on ${held.host}). If it was killed, wait until ${held.until}.`,
  )
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
