// The configuration of VitePress (tools/scripts/docs-site.mjs). The pages are the documents of the
// repository, where they are; each README.md is an index.md.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { root } from '../../bootstrap.mjs'

const listed = (...options) =>
  execFileSync('git', ['ls-files', '-z', ...options], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter(Boolean)
const files = new Set(
  listed('*.md', 'docs/images/*').filter((file) => existsSync(join(root, file))),
)
const pageOf = (file) => file.replace(/(^|\/)README\.md$/, '$1index.md')

/** Returns the text of a page, in which only links to other pages and pictures are left. */
function withPageLinks(text, page) {
  return text
    .replaceAll(/^<!--.*?-->\n/gms, '')
    .replaceAll(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, image, label, target) => {
      if (/^([a-z]+:|#)/.test(target)) return whole
      const [path, anchor] = target.split('#')
      const found = [path, join(path, 'README.md')].find((one) =>
        files.has(normalize(join(dirname(page), one))),
      )
      if (found === undefined) return label
      const link = /^\.\.?\//.test(found) ? found : `./${found}`
      return `${image}[${label}](${pageOf(link)}${anchor === undefined ? '' : `#${anchor}`})`
    })
}

/** Returns a group for each `##` heading of docs/README.md, with an item for each link. */
const sidebarOf = (index) =>
  index
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.split('\n', 1)[0],
      items: [...section.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, text, path]) => ({
        text,
        link: `/${pageOf(join('docs', path))}`,
      })),
    }))

/** The anchor that a code host gives a heading. test/links.test.ts checks the links to them. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

export default {
  title: 'Intake',
  description: 'Feedback and log intake for apps',
  srcDir: root,
  srcExclude: listed('--others', '--exclude=node_modules', '*.md'),
  outDir: process.env.SITE_OUT,
  base: process.env.SITE_BASE ?? '/',
  rewrites: pageOf,
  lastUpdated: false,
  markdown: {
    html: false,
    anchor: { slugify },
    config: ({ core }) =>
      core.ruler.before('normalize', 'links', (state) => {
        state.src = withPageLinks(state.src, state.env.relativePath)
      }),
  },
  // The pages are outside of the folder that has Vue.
  vite: { resolve: { alias: { vue: join(root, 'tools/scripts/site/node_modules/vue') } } },
  themeConfig: {
    search: { provider: 'local' },
    nav: [{ text: 'Documentation', link: '/docs/' }],
    sidebar: sidebarOf(readFileSync(join(root, 'docs/README.md'), 'utf8')),
  },
}
