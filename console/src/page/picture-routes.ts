import type { FastifyInstance } from 'fastify'
import { parseAttachmentKey } from '@intake/contract'
import { createConcurrencyLimit, cutOffAfter } from './concurrency-limit.ts'
import { PageError } from './page-error.ts'
import { readPicture, type PictureStore } from './read-picture.ts'
import type { RecordReader } from './records.ts'
import { pictureHeaders } from './security-headers.ts'
import type { SignedLinks } from './signed-links.ts'
import { shownTypes } from './views/pictures.ts'

export const signedPrefix = '/pictures/'

/** For all readers. Many may wait, because a list of feedback requests many pictures. */
const picturesMax = { atOnce: 2, waitingMax: 200 }
/** Then the connection is closed: others wait for their turn. Enough for 12 MB at 5 Mbit/s. */
const sendTimeoutMs = 20_000

/** `GET /attachments/<key>` leads to a signed path, which needs no password until it expires. */
export function pictureRoutes(
  app: FastifyInstance,
  options: {
    reader: RecordReader
    store: PictureStore | undefined
    keepsMetadata: boolean
    links: SignedLinks
  },
): void {
  const { reader, store, keepsMetadata, links } = options
  const pictures = createConcurrencyLimit(picturesMax)

  app.get<{ Params: { '*': string } }>('/attachments/*', async (request, reply) => {
    const { '*': key } = request.params
    if (parseAttachmentKey(key) === undefined) throw new PageError(404, 'There is no such picture.')
    return reply.redirect(links.sign(`${signedPrefix}${key}`), 303)
  })

  app.get<{ Params: { '*': string } }>(`${signedPrefix}*`, async (request, reply) => {
    if (store === undefined) throw new PageError(404, 'This console has no object store.')
    const { '*': key } = request.params
    const { body, contentType, fileName } = await pictures.run(reply, () =>
      readPicture(key, { reader, store, keepsMetadata }),
    )
    cutOffAfter(sendTimeoutMs, reply)
    const disposition = shownTypes.has(contentType) ? 'inline' : 'attachment'
    return reply
      .headers(pictureHeaders)
      .type(contentType)
      .header('content-disposition', `${disposition}; filename="${fileName}"`)
      .send(body)
  })
}
