import type { FastifyBaseLogger } from 'fastify'
import { attachmentKey } from '@intake/contract'
import type { Identity } from '@intake/identity'
import type { ObjectStore } from '@intake/object-store'
import { mayBeStored } from './may-be-stored.ts'
import type { StoredAttachment } from '../record/row.ts'
import type { Image } from '../form/upload.ts'

/**
 * Stores the images of a record as objects, then runs `commit` with the row's `attachments`, which
 * refer to the objects. The key of an object contains the hash of its content. So a retry with
 * other bytes never overwrites an object to which an earlier attempt's row may refer. If storing an
 * image or `commit` fails, the function tries to delete the objects. It keeps them if the row may
 * be stored despite the error (see `mayBeStored`).
 *
 * @param options.repeatable whether the request has an idempotency key, or the client gave the
 * record an id. If so, the objects are always kept, because a retry, possibly already in progress,
 * uses the same objects
 */
export async function commitWithImages(options: {
  store: Pick<ObjectStore, 'put' | 'remove'>
  identity: Identity
  images: Image[]
  repeatable: boolean
  log: FastifyBaseLogger
  requestId: string
  commit: (attachments: StoredAttachment[]) => Promise<void>
}): Promise<void> {
  const { store, identity, images, repeatable, log, requestId, commit } = options
  const objects = images.map((image, index) => ({
    key: attachmentKey({ ...identity, ...image, number: index + 1 }),
    ...image,
  }))
  const attachments = objects.map(({ key, contentType, body, sha256 }) => ({
    key,
    content_type: contentType,
    bytes: body.length,
    sha256,
  }))
  const puts = await Promise.allSettled(objects.map((object) => store.put(object)))
  try {
    for (const put of puts) if (put.status === 'rejected') throw put.reason
    await commit(attachments)
  } catch (error) {
    if (!repeatable && !mayBeStored(error)) {
      await store.remove(attachments.map(({ key }) => key)).catch((err: unknown) => {
        const help = 'docs/operations/problems.md#attachments_left'
        log.warn(
          { err, requestId, id: identity.id, help },
          'attachments of a refused feedback were left behind',
        )
      })
    }
    throw error
  }
}
