import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

const root = new URL('../../../docs/', import.meta.url)
const names: ReadonlySet<string> = new Set(
  existsSync(root)
    ? readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.md'))
        .map((name) => name.slice(0, -'.md'.length))
    : [],
)

export const readHelp = async (name: string): Promise<string | undefined> =>
  names.has(name) ? readFile(new URL(`${name}.md`, root), 'utf8') : undefined

/** The path of a page of the documentation, which is named by its file, such as `docs/page.md`. */
export const helpPath = (file: string): string =>
  `/help/${file.replace(/^docs\//, '').replace(/\.md(?=#|$)/, '')}`

/** The path that a link in a page leads to; undefined if it leads to no page of the documentation. */
export function followHelp(from: string, href: string): string | undefined {
  if (href.startsWith('#')) return href
  const base = 'http://docs/'
  const { origin, pathname, hash } = new URL(href, `${base}${from}`)
  const name = pathname.slice(1).replace(/\.md$/, '')
  return origin === new URL(base).origin && names.has(name) ? `/help/${name}${hash}` : undefined
}
