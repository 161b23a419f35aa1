import type { FastifyInstance, FastifyReply } from 'fastify'
import { PageError } from './page-error.ts'
import { createPlaces } from './places.ts'
import { keyPattern, readPicture, type PictureStore } from './read-picture.ts'
import type { RecordReader } from './records.ts'
import { pictureHeaders } from './security-headers.ts'
import type { SignedLinks } from './signed-links.ts'
import { shownTypes } from './views/pictures.ts'

export const signedPrefix = '/pictures/'

/** Pictures in memory at once, for all readers; a feedback list asks for many. */
const placesOfPictures = { atOnce: 2, waitingMax: 200 }
/** A reader who is slower than this is cut off. */
const sendTimeoutMs = 60_000

/**
 * `GET /attachments/<key>` leads whoever may see the page to a signed path, which shows the picture without
 * the password until it expires.
 */
export function pictureRoutes(
  app: FastifyInstance,
  options: { reader: RecordReader; store: PictureStore | undefined; links: SignedLinks },
): void {
  const { reader, store, links } = options
  const places = createPlaces(placesOfPictures)

  app.get<{ Params: { '*': string } }>('/attachments/*', async (request, reply) => {
    const { '*': key } = request.params
    if (!keyPattern.test(key)) throw new PageError(404, 'There is no such picture.')
    return reply.redirect(links.sign(`${signedPrefix}${key}`), 303)
  })

  app.get<{ Params: { '*': string } }>(`${signedPrefix}*`, async (request, reply) => {
    if (store === undefined) throw new PageError(404, 'This worker has no object store.')
    const giveBack = await places.take()
    onceClosed(reply, giveBack)
    const { body, contentType, fileName } = await readPicture(request.params['*'], {
      reader,
      store,
    })
    const disposition = shownTypes.has(contentType) ? 'inline' : 'attachment'
    return reply
      .headers(pictureHeaders)
      .type(contentType)
      .header('content-disposition', `${disposition}; filename="${fileName}"`)
      .send(body)
  })
}

/** Calls `end` when the response has been sent or its connection is gone, which is forced in the end. */
export function onceClosed(reply: FastifyReply, end: () => void): void {
  const timer = setTimeout(() => reply.raw.destroy(), sendTimeoutMs)
  const settle = () => {
    clearTimeout(timer)
    end()
  }
  if (reply.raw.closed) settle()
  else reply.raw.once('close', settle)
}
