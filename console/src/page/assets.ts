import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

/** Parts of the CSS library Oat, in the order of their cascade layers. */
const oatParts = ['00-base', '01-theme', 'button', 'form', 'table', 'badge', 'card']

const read = (url: string | URL) => readFileSync(new URL(url), 'utf8')
const oat = oatParts.map((part) => read(import.meta.resolve(`@knadh/oat/css/${part}.css`))).join('')

/** The content security policy forbids the `data:` addresses of icons. */
const withoutIcons = oat.replaceAll(
  /[^;{}]*(?:mask-image|background-image): url\("data:[^"]*"\);/g,
  '',
)

export const stylesheet = asset(
  'page.css',
  'text/css; charset=utf-8',
  `/* Oat 0.6.1, MIT, github.com/knadh/oat */${withoutIcons}${read(new URL('../../assets/page.css', import.meta.url))}`,
)
export const keysScript = script('keys.js')
export const liveScript = script('live.js')
export const icon = asset(
  'icon.svg',
  'image/svg+xml',
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><path fill="#2452b5" d="M3 2.5h14v10.5H9l-6 5z"/></svg>',
)

function script(name: string) {
  const text = read(new URL(`../../assets/${name}`, import.meta.url))
  return asset(name, 'text/javascript; charset=utf-8', text.replaceAll(/^ *\/\/.*\n/gm, ''))
}

/** The path contains a hash of the content, so browsers may keep the file indefinitely. */
function asset(name: string, type: string, text: string) {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
  const body = Buffer.from(text)
  return { path: `/${name.replace('.', `.${hash}.`)}`, type, body, gzip: gzipSync(body) }
}

/** Serves the files of the page. They are the same for every reader and never change. */
export function assetRoutes(app: FastifyInstance): void {
  for (const { path, type, body, gzip } of [stylesheet, keysScript, liveScript, icon]) {
    app.get(path, async (request, reply) => {
      const isGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
      if (isGzip) reply.header('content-encoding', 'gzip')
      return reply
        .type(type)
        .header('cache-control', 'private, max-age=31536000, immutable')
        .header('vary', 'accept-encoding')
        .send(isGzip ? gzip : body)
    })
  }
}
