import { feedbackByDay } from './tombstones.ts'
import { attachmentPrefix, originalKey, parseAttachmentKey } from '@intake/contract'
import type { ObjectStore } from '@intake/object-store'
import type { Services } from '../services.ts'
import type { Condition } from './subject.ts'

const removalsAtOnce = 64

/** Removes the objects of feedback in the rows that are selected. Resolves to their number. */
export async function removeObjectsOf(
  services: Pick<Services, 'clickhouse' | 'objects'>,
  condition: Condition,
): Promise<number> {
  let removed = 0
  for await (const { day, ids } of feedbackByDay(services.clickhouse, condition)) {
    const isWanted = (key: string) => ids.has(parseAttachmentKey(originalKey(key))?.id ?? '')
    removed += await removeObjects(services.objects, attachmentPrefix(day), isWanted)
  }
  return removed
}

/** Removes the objects that `isWanted` selects. Resolves to their number. */
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
