// Serves this folder and the client at http://localhost:8080, or at the port that is given:
// node examples/web/serve.mjs [port]
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { bundleWeb } from '../../clients/javascript/bundle.mjs'

const types = { html: 'text/html', js: 'text/javascript', css: 'text/css' }
const files = { '/': 'index.html', '/page.js': 'page.js', '/style.css': 'style.css' }

/**
 * Creates an HTTP server for the example. It responds 500 for a file that cannot be read.
 *
 * @returns the server, which does not listen yet
 */
export async function createSite(folder = new URL('.', import.meta.url)) {
  const client = await bundleWeb()
  return createServer((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? ''
    const name = files[path]
    if (path !== '/client.js' && name === undefined) {
      response.writeHead(404).end()
      return
    }
    const type = types[(name ?? path).split('.').at(-1)]
    const send = (/** @type {string | Buffer} */ body) =>
      response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(body)
    if (name === undefined) send(client)
    else readFile(new URL(name, folder)).then(send, () => response.writeHead(500).end())
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const port = Number(process.argv[2] ?? 8080)
  const server = await createSite()
  server.listen(port, 'localhost', () => console.log(`http://localhost:${port}`))
}
