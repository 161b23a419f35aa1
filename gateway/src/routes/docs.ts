import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { preparedRoute } from './prepared.ts'

/** The page, which `npm run generate` writes. */
const page = readFileSync(new URL('../../docs.html', import.meta.url), 'utf8')
/** The address of the gateway in the examples of the page. */
const exampleUrl = 'http://127.0.0.1:3000'

/**
 * Serves `GET /docs`, a page for developers of clients. The page loads nothing, and runs only the
 * script that it contains.
 */
export function docsRoute(app: FastifyInstance, { url }: { url: string }): void {
  const hashOf = (element: RegExp) => {
    const [, text = ''] = element.exec(page) ?? []
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  }
  const style = hashOf(/<style>([^]*?)<\/style>/)
  const script = hashOf(/<script type="module">([^]*?)<\/script>/)
  preparedRoute(app, '/docs', {
    type: 'text/html; charset=utf-8',
    body: Buffer.from(page.replaceAll(exampleUrl, escapeHtml(url))),
    headers: {
      'content-security-policy':
        `default-src 'none'; style-src ${style}; script-src ${script}; ` +
        "base-uri 'none'; form-action 'none'; " +
        "frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    },
  })
}

/** `$` is special in the replacement text of `replaceAll`. */
const escapeHtml = (text: string) =>
  text.replaceAll(/[&<>"'$]/g, (sign) => `&#${sign.charCodeAt(0)};`)
