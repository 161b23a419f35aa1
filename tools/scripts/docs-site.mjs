// npm run docs:site: makes a static site with a search from the documents, in the folder `site`.
// VitePress, which has a lock of its own (tools/scripts/site), fails if a link leads nowhere.
// --to FOLDER names another folder. SITE_BASE is the path at which the site is published.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './bootstrap.mjs'

const { values } = parseArgs({ options: { to: { type: 'string', default: join(root, 'site') } } })
const here = join(root, 'tools/scripts/site')
const installMs = 5 * 60_000
const buildMs = 5 * 60_000

const tracked = execFileSync('git', ['ls-files', '*.md', 'docs/images/*'], {
  cwd: root,
  encoding: 'utf8',
})
const files = new Set(
  tracked.split('\n').filter((file) => file !== '' && existsSync(join(root, file))),
)

const installed = join(here, 'node_modules/.package-lock.json')
if (!existsSync(installed)) {
  console.error('Installing VitePress (once, about 100 MB) ...')
  const options = ['--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', ['ci', ...options], {
    cwd: here,
    stdio: ['ignore', 2, 2],
    timeout: installMs,
  })
}

// The pages are copied, because their README.md must be index.md, and the site has no other files.
const pages = mkdtempSync(join(here, '.pages-'))
try {
  for (const file of files) {
    const place = join(pages, pageOf(file))
    mkdirSync(dirname(place), { recursive: true })
    if (file.endsWith('.md')) writeFileSync(place, withPageLinks(file))
    else cpSync(join(root, file), place)
  }
  mkdirSync(join(pages, '.vitepress'))
  cpSync(join(here, 'config.mjs'), join(pages, '.vitepress/config.mjs'))
  symlinkSync(join(here, 'node_modules'), join(pages, 'node_modules'))
  execFileSync(process.execPath, [join(here, 'node_modules/vitepress/bin/vitepress.js'), 'build'], {
    cwd: pages,
    env: { ...process.env, SITE_OUT: resolve(values.to) },
    stdio: ['ignore', 2, 2],
    timeout: buildMs,
  })
  console.log(`The site is in ${resolve(values.to)}`)
} finally {
  rmSync(pages, { recursive: true, force: true })
}

function pageOf(file) {
  return file.replace(/(^|\/)README\.md$/, '$1index.md')
}

/** Returns the text of a page, in which only links to other pages and pictures are left. */
function withPageLinks(file) {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/^<!--.*?-->\n/gms, '')
  return text.replaceAll(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, image, label, target) => {
    if (/^([a-z]+:|#)/.test(target)) return whole
    const [path, anchor] = target.split('#')
    const found = [path, join(path, 'README.md')].find((one) =>
      files.has(normalize(join(dirname(file), one))),
    )
    if (found === undefined) return label
    const link = /^\.\.?\//.test(found) ? found : `./${found}`
    return `${image}[${label}](${pageOf(link)}${anchor === undefined ? '' : `#${anchor}`})`
  })
}
