import { parseObject } from '../core/decide.ts'
import { fewAttempts } from '../core/limits.ts'
import type { Transport } from '../core/ports.ts'

interface Form {
  payload: string
  attachments: readonly unknown[]
}

/**
 * Converts forms to what React Native sends. React Native reads image files only when it sends a
 * form. The system may have deleted the files of an image picker by then. The form then fails as if
 * there were no network. So after several attempts without a response, the text is also sent alone,
 * right after the form. If the text gets a response, the images caused the failures and are left
 * out.
 *
 * @param onLeftOut called with the number of images that were left out
 */
export function createFormTransport(
  send: Transport,
  onLeftOut: (count: number) => void,
): Transport {
  /** The number of attempts in a row that got no response, by the id of the feedback. */
  const silent = new Map<string, number>()
  return async (request) => {
    if (typeof request.body === 'string') return send(request)
    const { payload, attachments } = request.body as Form
    const key = String(Object(parseObject(payload)['feedback']).id)
    const withImages = (images: readonly unknown[]) =>
      send({ ...request, body: print(payload, images) })
    try {
      const answer = await withImages(attachments)
      silent.delete(key)
      return answer
    } catch (error) {
      const attempts = (silent.get(key) || 0) + 1
      silent.set(key, attempts)
      if (attachments.length === 0 || attempts < fewAttempts) throw error
      const answer = await withImages([])
      silent.delete(key)
      if (answer.status === 201) onLeftOut(attachments.length)
      return answer
    }
  }
}

function print(payload: string, images: readonly unknown[]): FormData {
  const form = new FormData()
  form.append('payload', payload)
  // When React Native sends the form, it reads the file at the `uri` of each image.
  for (const image of images) form.append('attachments', image as Blob)
  return form
}
