import type { Test } from 'tap'
import { serve } from '@intake/test-kit/serve'

const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }

/** Starts a server that redirects all requests except preflight requests to a second server. */
export async function startRedirecting(
  t: Test,
  status: number,
): Promise<{
  url: string
  redirected: string[]
  /** The requests that arrived at the second server. */
  followed: string[]
}> {
  const redirected: string[] = []
  const followed: string[] = []
  const target = await serve(t, (request, response) => {
    followed.push(`${request.method} ${request.url}`)
    request.resume().once('end', () => response.writeHead(204, cors).end())
  })
  const { url } = await serve(t, (request, response) => {
    const isPreflight = request.method === 'OPTIONS'
    if (!isPreflight) redirected.push(request.url!)
    const headers = { ...cors, ...(!isPreflight && { location: target.url + request.url }) }
    request
      .resume()
      .once('end', () => response.writeHead(isPreflight ? 204 : status, headers).end())
  })
  return { url, redirected, followed }
}
