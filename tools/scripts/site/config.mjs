// The configuration of VitePress (tools/scripts/docs-site.mjs).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns a group for each `##` heading of docs/README.md, with an item for each link. */
export function sidebarOf(index) {
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.split('\n', 1)[0],
      items: [...section.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, text, path]) => ({
        text,
        link: `/${join('docs', path)}`,
      })),
    }))
}

/** The anchor that a code host gives a heading. test/links.test.ts checks the links to them. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

export default {
  title: 'Intake',
  description: 'Feedback and log intake for apps',
  outDir: process.env.SITE_OUT,
  base: process.env.SITE_BASE ?? '/',
  lastUpdated: false,
  markdown: { html: false, anchor: { slugify } },
  themeConfig: {
    search: { provider: 'local' },
    nav: [{ text: 'Documentation', link: '/docs/' }],
    sidebar: sidebarOf(readFileSync(new URL('../docs/index.md', import.meta.url), 'utf8')),
  },
}
