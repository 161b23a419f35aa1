import { orAbort } from '@intake/runtime'
import { lock } from './lock.ts'
import {
  findNewest,
  lockPath,
  planPath,
  readManifest,
  type ExportScope,
  type Manifest,
  type Plan,
  type StoredManifest,
} from './manifest.ts'
import { makePlan, type ExportOptions } from './plan.ts'
import { readVisibleUntil } from './read-records.ts'
import { encode, partsPath, readJson } from './target.ts'
import { writeWindow } from './write-window.ts'

/**
 * Exports what has become visible since the last export into this target, in windows of at most a
 * day. A window is complete when its manifest exists. Interrupted at any moment and repeated, it
 * writes the same files. Resolves to the new manifests.
 *
 * @param options.signal ends the export at once, even if ClickHouse does not respond; it rejects
 * with the signal's reason
 */
export async function exportRecords(options: ExportOptions): Promise<Manifest[]> {
  const { target, signal } = options
  const { owned, unlock } = await lock(target)
  const work = () => writeWindows({ ...options, target: owned })
  try {
    return await (signal ? orAbort(work, signal) : work())
  } finally {
    // A lock that remains ends by itself; what failed before must be reported.
    await unlock().catch(() => undefined)
  }
}

async function writeWindows(options: ExportOptions): Promise<Manifest[]> {
  const { target } = options
  const manifests: Manifest[] = []
  let last = await readLast(options)
  // Read once: it advances while windows are written, and the last one would never come.
  const visibleUntil = await readVisibleUntil(options)
  for (;;) {
    const pending = await readJson<Plan>(target, planPath)
    if (pending !== undefined) requireSameScope(pending.scope, options.scope)
    const plan = pending ?? (await makePlan(options, last?.manifest, visibleUntil))
    if (plan === undefined) return manifests
    // The plan of an exporter that was frozen while others continued may be an old one.
    if (plan.number > (last?.manifest.number ?? 0)) {
      await options.onWindow?.()
      await target.write(planPath, encode(plan))
      last = await writeWindow(options, plan, last)
      manifests.push(last.manifest)
    }
    await target.remove(planPath)
  }
}

/** @throws {Error} if the target has something else than this export */
async function readLast(options: ExportOptions): Promise<StoredManifest | undefined> {
  const { target, installation, scope } = options
  const newest = await findNewest(target)
  const last = newest === 0 ? undefined : await readManifest(target, newest)
  if (last === undefined) {
    const folders = ['manifests', 'deletions', 'corrections', 'logs', 'feedback']
    const known = new Set([lockPath, planPath, partsPath, ...folders])
    const foreign = (await target.list('')).find((name) => !known.has(name))
    if (foreign === undefined) return undefined
    throw new Error(`The target has no export, but ${foreign}: choose an empty folder.`)
  }
  if (last.manifest.installation !== installation) {
    throw new Error('The target has an export of another installation: choose an empty folder.')
  }
  requireSameScope(last.manifest.scope, scope)
  return last
}

function requireSameScope(stored: ExportScope, scope: ExportScope): void {
  if (JSON.stringify(stored) === JSON.stringify(scope)) return
  throw new Error(
    `The target has an export of other records (${JSON.stringify(stored)}): choose an empty folder.`,
  )
}
