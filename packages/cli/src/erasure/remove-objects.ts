import { erasedFeedback, type ClickHouse } from '@intake/clickhouse'
import type { ObjectStore } from '@intake/object-store'

const removalsAtOnce = 64

/** Deletes the objects of all feedback that has a tombstone; resolves to their number. */
export async function removeErasedObjects(
  clickhouse: Pick<ClickHouse, 'query'>,
  objects: Pick<ObjectStore, 'list' | 'remove'>,
): Promise<number> {
  let removed = 0
  for await (const { day, ids } of erasedFeedback(clickhouse)) {
    // feedback/YYYY/MM/DD/<id>/<n>-<sha256>.<extension>
    const isErased = (key: string) => ids.has(key.split('/')[4] ?? '')
    removed += await removeObjects(objects, `feedback/${day.replaceAll('-', '/')}/`, isErased)
  }
  return removed
}

/** Deletes the objects below a prefix, or those that `isWanted` selects; resolves to their number. */
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
