import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { serveDriver } from '../../javascript/adapters/serve-driver.ts'
import * as client from '../../javascript/src/core/client.ts'
import * as transport from '../../javascript/src/core/fetch-transport.ts'
import type { Capability } from '../src/adapter.ts'
import { createClientDriver, type ClientModules } from './client-driver.ts'
import { flaws, type Flaw } from './flaws.ts'

const source = fileURLToPath(new URL('../../javascript/src/core', import.meta.url))

/** Starts an adapter of our client for JavaScript, or of one with a flaw, and returns its URL. */
export async function startSender(
  t: Pick<Test, 'teardown'>,
  options: { flaw?: Flaw; capabilities?: Capability[]; sendsAtStart?: boolean } = {},
): Promise<string> {
  const { flaw, ...rest } = options
  const modules = flaw === undefined ? { ...client, ...transport } : await loadWithFlaw(t, flaw)
  const { url, close } = await serveDriver(
    createClientDriver(modules, { name: flaw ?? 'javascript', ...rest }),
  )
  t.teardown(close)
  return url
}

async function loadWithFlaw(t: Pick<Test, 'teardown'>, flaw: Flaw): Promise<ClientModules> {
  const { file, from, to } = flaws[flaw]
  const folder = mkdtempSync(join(tmpdir(), 'intake-wrong-client-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  cpSync(source, folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  if (text.split(from).length !== 2) throw new Error(`${file} does not have once: ${from}`)
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
  const load = (name: string) => import(pathToFileURL(join(folder, name)).href)
  return { ...(await load('client.ts')), ...(await load('fetch-transport.ts')) } as ClientModules
}
