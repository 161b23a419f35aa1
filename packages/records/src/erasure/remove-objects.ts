import { erasedFeedback } from './tombstones.ts'
import { type ClickHouse } from '@intake/clickhouse'
import { attachmentPrefix, originalKey, parseAttachmentKey } from '@intake/contract'
import type { ObjectStore } from '@intake/object-store'

const removalsAtOnce = 64

/**
 * Deletes the attachments and thumbnails of all feedback that has a tombstone. Resolves to the
 * number of deleted objects.
 */
export async function removeErasedObjects(
  clickhouse: Pick<ClickHouse, 'query'>,
  objects: Pick<ObjectStore, 'list' | 'remove'>,
): Promise<number> {
  let removed = 0
  for await (const { day, ids } of erasedFeedback(clickhouse)) {
    const isErased = (key: string) => ids.has(parseAttachmentKey(originalKey(key))?.id ?? '')
    removed += await removeObjects(objects, attachmentPrefix(day), isErased)
  }
  return removed
}

/**
 * Deletes the objects whose keys begin with `prefix` and that `isWanted` selects (default: all).
 * Resolves to the number of deleted objects.
 */
export async function removeObjects(
  objects: Pick<ObjectStore, 'list' | 'remove'>,
  prefix: string,
  isWanted: (key: string) => boolean = () => true,
): Promise<number> {
  let removed = 0
  let keys: string[] = []
  const flush = async () => {
    await objects.remove(keys)
    removed += keys.length
    keys = []
  }
  for await (const key of objects.list(prefix)) {
    if (isWanted(key)) keys.push(key)
    if (keys.length === removalsAtOnce) await flush()
  }
  await flush()
  return removed
}
