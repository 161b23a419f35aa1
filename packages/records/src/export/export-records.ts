import { ClickHouseError } from '@intake/clickhouse'
import { orAbort } from '@intake/runtime'
import { lock } from './lock.ts'
import {
  findNewest,
  planPath,
  readManifest,
  type ExportScope,
  type Manifest,
  type Plan,
  type StoredManifest,
} from './manifest.ts'
import { makePlan, type ExportOptions } from './plan.ts'
import { readVisibleUntil } from './read-records.ts'
import { encode, readJson } from './target.ts'
import { removeWindow, writeWindow } from './write-window.ts'

const defaultRowsMax = 250_000

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
  let { rowsMax = defaultRowsMax } = options
  // Read once: it advances while windows are written, and the last one would never come.
  const visible = await readVisibleUntil(options)
  for (;;) {
    const begun = await readBegun(options, last?.manifest)
    const plan = begun ?? (await makePlan(options, last?.manifest, { visible, rowsMax }))
    if (plan === undefined) return manifests
    await options.onWindow?.()
    await target.write(planPath, encode(plan))
    try {
      last = await writeWindow(options, plan, last)
      manifests.push(last.manifest)
    } catch (error) {
      const isTooLarge = error instanceof ClickHouseError && error.isTooLarge
      if (!isTooLarge || rowsMax === 1) throw error
      rowsMax = Math.ceil(rowsMax / 8)
      await removeWindow(options, plan)
    }
    await target.remove(planPath)
  }
}

/** Reads the plan of a run that was interrupted; what this run has written goes, to be repeated. */
async function readBegun(options: ExportOptions, last?: Manifest): Promise<Plan | undefined> {
  const { target, scope } = options
  const begun = await readJson<Plan>(target, planPath)
  // An interrupted run may have written the manifest.
  if (begun === undefined || begun.number <= (last?.number ?? 0)) return undefined
  requireSameScope(begun.scope, scope)
  await removeWindow(options, begun)
  return begun.parts === undefined ? begun : undefined
}

/** @throws {Error} if the target has something else than this export */
async function readLast(options: ExportOptions): Promise<StoredManifest | undefined> {
  const { target, installation, scope } = options
  const last = await readManifest(target, await findNewest(target))
  if (last === undefined) return undefined
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
