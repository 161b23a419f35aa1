import { readdirSync } from 'node:fs'
import t from 'tap'
import { problemCatalogue, helpOf } from '@intake/health/problem-catalogue'
import { linksIn, startPage, view } from './fixture.ts'
import { checkMarkup } from './markup.ts'

t.test('every page of operations is served, and its links lead to others', async (t) => {
  const { url } = await startPage(t)
  const pages = readdirSync(new URL('../../../docs/operations/', import.meta.url))
  for (const name of [
    'webhook.md',
    'queries.md',
    'connect.md',
    ...pages.map((one) => `operations/${one}`),
  ]) {
    const path = `/help/${name.replace(/\.md$/, '')}`
    const { status, text } = await view(url, path)
    t.equal(status, 200, path)
    t.ok(text.length < 100_000, `${path} has ${text.length} characters`)
    checkMarkup(t, text, path)
    for (const link of linksIn(text, path).filter((one) => one.startsWith('/help/')))
      t.equal((await view(url, link)).status, 200, `${path} leads to ${link}`)
  }
})

t.test('the help of every problem is there, with its section', async (t) => {
  const { url } = await startPage(t)
  for (const code of Object.keys(problemCatalogue)) {
    const [file = '', section] = helpOf(code as keyof typeof problemCatalogue).split('#')
    const { status, text } = await view(url, file.replace(/^docs/, '/help').replace(/\.md$/, ''))
    t.equal(status, 200, code)
    if (section !== undefined) t.match(text, ` id="${section}"`)
  }
})

t.test('404 for what is no page, without looking for a file', async (t) => {
  const { url } = await startPage(t)
  for (const path of ['/help/none', '/help/../README', '/help/%2e%2e/README', '/help/'])
    t.equal((await view(url, path)).status, 404, path)
})
