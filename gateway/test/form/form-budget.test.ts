import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import t from 'tap'
import { feedbackPayload, images, listen, secret, startGateway } from '../support.ts'
import { file, payload, send } from '../forms.ts'

t.test('503 busy for forms of unknown length, too, by the bytes that have arrived', async (t) => {
  // Forms may use seven tenths of the bytes, and one API key two thirds of that: 108 MiB, enough
  // for twelve images of 9 MB.
  const env = { BYTES_IN_FLIGHT_MAX: String(232 * 1024 * 1024) }
  const { app } = await startGateway(t, { env })
  const port = await listen({ app })
  const disposition = '--b\r\ncontent-disposition: form-data; name='
  const image = Buffer.concat([images.png, Buffer.alloc(9_000_000), Buffer.from('\r\n')])
  /** Begins a form, with an image. */
  const open = () => {
    const type = 'multipart/form-data; boundary=b'
    const headers = {
      'x-api-key': secret,
      'content-type': type,
      'transfer-encoding': 'chunked',
    }
    const form = request({
      host: '127.0.0.1',
      port,
      path: '/api/feedback',
      method: 'POST',
      headers,
    })
    const status = once(form, 'response').then(([response]: IncomingMessage[]) => {
      response!.resume()
      return response!.statusCode
    })
    // Ignores the error that occurs when the gateway closes the connection of a refused form, which
    // it does not read to its end.
    form.on('error', () => undefined)
    form.write(`${disposition}"payload"\r\n\r\n${JSON.stringify(feedbackPayload())}\r\n`)
    form.write(`${disposition}"attachments"; filename="a.png"\r\n\r\n`)
    form.write(image)
    return { end: () => form.end('--b--\r\n'), status }
  }
  const endAll = async (forms: ReturnType<typeof open>[]) => {
    for (const { end } of forms) end()
    return new Set(await Promise.all(forms.map(({ status }) => status)))
  }
  const opened = Array.from({ length: 20 }, open)
  t.equal(await Promise.race(opened.map(({ status }) => status)), 503)
  t.same(await endAll(opened), new Set([201, 503]))
  const again = await endAll(Array.from({ length: 6 }, open))
  t.same(again, new Set([201]), 'the bytes have been released')
})

t.test('503 busy when the bytes in flight are used up', async (t) => {
  // Forms may use seven tenths of the bytes, and one API key two thirds of that: 42 MiB.
  const env = {
    BYTES_IN_FLIGHT_MAX: String(92 * 1024 * 1024),
    BATCH_BODY_BYTES_MAX: String(256 * 1024),
  }
  const gateway = await startGateway(t, { env })
  const large = file(Buffer.concat([images.png, Buffer.alloc(9 * 1024 * 1024)]))
  const form = () => send(gateway, [payload(), large, large, large])
  const responses = await Promise.all([form(), form(), form()])
  t.same(new Set(responses.map(({ status }) => status)), new Set([201, 503]))
  t.equal((await form()).status, 201)
})
