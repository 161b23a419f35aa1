import { hostname } from 'node:os'
import { randomUUID } from 'node:crypto'
import { lockPath } from './manifest.ts'
import { encode, partsPath, readJson, type ExportTarget } from './target.ts'

/** A killed exporter leaves its lock, which counts for this long, unless its process is known. */
const leaseMs = 15 * 60_000

interface Lock {
  id: string
  host: string
  pid: number
  until: string
}

/**
 * Keeps others from writing into the target, however long a statement takes. Resolves to the target,
 * whose writes reject when another exporter has the lock, which began at the same moment or while
 * this one was frozen, or if the folder was renamed.
 * @throws {Error} if another exporter writes into the target
 */
export async function lock(
  target: ExportTarget,
): Promise<{ owned: ExportTarget; unlock: () => Promise<void> }> {
  const own = { id: randomUUID(), host: hostname(), pid: process.pid }
  const isOwn = async () => (await readJson<Lock>(target, lockPath))?.id === own.id
  const write = () => {
    const until = new Date(Date.now() + leaseMs).toISOString()
    return target.write(lockPath, encode({ ...own, until } satisfies Lock))
  }
  const requireLock = async () => {
    if (await isOwn()) return
    throw new Error('Another export has just begun here, or the target was renamed.')
  }
  requireFree(await readJson<Lock>(target, lockPath), own)
  await write()
  await requireLock()
  const renew = async () => {
    if (await isOwn()) await write()
  }
  let renewal = Promise.resolve()
  // If a renewal fails, so does what the export writes, or the next renewal succeeds.
  const renewals = setInterval(() => {
    renewal = renew().catch(() => undefined)
  }, leaseMs / 5)
  const unlock = async () => {
    clearInterval(renewals)
    await renewal
    if (!(await isOwn())) return
    // Those of killed exporters, and of this one if it was interrupted while it wrote. What cannot be
    // removed goes next time.
    await target.remove(partsPath).catch(() => undefined)
    await target.remove(lockPath)
  }
  const owned: ExportTarget = {
    ...target,
    write: (path, bytes) => requireLock().then(() => target.write(path, bytes)),
    remove: (path) => requireLock().then(() => target.remove(path)),
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
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
