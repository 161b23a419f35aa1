// npm run docs:site: makes a static site with a search from the documents, in the folder `site`.
// VitePress, which has a lock of its own (tools/scripts/site), fails if a link leads nowhere.
// --to FOLDER names another folder. SITE_BASE is the path at which the site is published.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './bootstrap.mjs'

const { values } = parseArgs({ options: { to: { type: 'string', default: join(root, 'site') } } })
const to = resolve(values.to)
const here = join(root, 'tools/scripts/site')
const run = (command, args, env = {}) =>
  execFileSync(command, args, {
    cwd: here,
    env: { ...process.env, ...env },
    stdio: ['ignore', 2, 2],
    timeout: 5 * 60_000,
  })

if (!existsSync(join(here, 'node_modules/.package-lock.json'))) {
  console.error('Installing VitePress (once, about 100 MB) ...')
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
}
run(process.execPath, ['node_modules/vitepress/bin/vitepress.js', 'build'], { SITE_OUT: to })
console.log(`The site is in ${to}`)
