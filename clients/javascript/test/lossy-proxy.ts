import { once } from 'node:events'
import { request as send, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Test } from 'tap'
import { serve } from '@intake/test-kit/serve'

export interface LossyProxy {
  url: string
  requests(): number
  lost(): number
}

/**
 * Starts a proxy in front of a gateway. The proxy loses the responses to some requests, and serves
 * files to browsers.
 *
 * @param options.lossRate probability that a response is lost
 */
export async function startLossyProxy(
  t: Pick<Test, 'teardown'>,
  options: {
    target: string
    lossRate: number
    random: () => number
    files?: ReadonlyMap<string, { type: string; body: string }>
  },
): Promise<LossyProxy> {
  const { target, lossRate, random, files } = options
  let requests = 0
  let lost = 0
  const { url } = await serve(t, (request, response) => {
    void (async () => {
      const file = files?.get(request.url ?? '')
      if (file) {
        response.writeHead(200, { 'content-type': file.type })
        return void response.end(file.body)
      }
      requests++
      const body = await buffer(request)
      const forwarded = send(target + request.url, {
        method: request.method,
        headers: request.headers,
      })
      forwarded.end(body)
      const [answer] = (await once(forwarded, 'response')) as [IncomingMessage]
      const content = await buffer(answer)
      if (random() < lossRate) {
        lost++
        return void request.socket.destroy()
      }
      response.writeHead(answer.statusCode!, answer.headers)
      response.end(content)
    })().catch(() => request.socket.destroy())
  })
  return { url, requests: () => requests, lost: () => lost }
}
