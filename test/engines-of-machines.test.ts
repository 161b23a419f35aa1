import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { findEngine } from '../tools/scripts/engine.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const lock = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
const linux = { platform: 'linux', arch: 'x64', path: '', lock, isPublished: () => false }
const mac = { ...linux, platform: 'darwin', arch: 'arm64' }

t.test('the usual machine has its engine in the lock, and asks no registry', async (t) => {
  const isPublished = () => t.fail('the registry was asked')
  t.same(findEngine({ ...linux, isPublished }), { kind: 'locked' })
})

t.test('another machine runs the clickhouse on its PATH', async (t) => {
  const folder = t.testdir({ clickhouse: '#!/bin/sh\n', other: { clickhouse: {} } })
  const path = `/nowhere:${folder}/other:${folder}`
  t.throws(() => findEngine({ ...mac, path }), 'a folder, and a file that is no program')
  chmodSync(join(folder, 'clickhouse'), 0o755)
  t.same(findEngine({ ...mac, path }), { kind: 'program', path: join(folder, 'clickhouse') })
})

t.test('without one, it installs the version of the lock', async (t) => {
  const asked: string[] = []
  const found = findEngine({ ...mac, isPublished: (spec: string) => asked.push(spec) > 0 })
  t.match(found, { kind: 'installed', name: '@chdb/lib-darwin-arm64' })
  const [, version] = /^ {2}'@chdb\/lib-linux-x64-gnu@([^']+)'/m.exec(lock) ?? []
  t.same(asked, [`@chdb/lib-darwin-arm64@${version}`])
})

t.test('if there is no engine, one sentence says so and names docker compose', async (t) => {
  for (const machine of [mac, { ...linux, arch: 'riscv64' }]) {
    t.throws(
      () => findEngine(machine),
      new RegExp(`for ${machine.platform} on ${machine.arch}: .*docker compose up`),
    )
  }
})

/**
 * Packages that a locked manifest declares as optional, and that the lock lacks, by what names
 * them, with what happens on a machine that needs one.
 */
const notLocked: Record<string, string> = {
  '@chdb/lib-': 'tools/scripts/engine.mjs installs it beside the lock',
}

t.test('every optional dependency of a locked package is locked, or an exception', async (t) => {
  const store = join(root, 'node_modules/.pnpm')
  const locked = new Set(
    [...lock.matchAll(/^ {2}'?((?:@[^/]+\/)?[^@'\s]+)@/gm)].map(([, name]) => name),
  )
  const missing = new Set<string>()
  for (const entry of readdirSync(store)) {
    const [, name] = /^((?:@[^+]+\+)?[^@]+)@/.exec(entry) ?? []
    if (name === undefined) continue
    const manifest = join(store, entry, 'node_modules', name.replace('+', '/'), 'package.json')
    const { optionalDependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as {
      optionalDependencies?: Record<string, string>
    }
    for (const one of Object.keys(optionalDependencies)) {
      if (!locked.has(one)) missing.add(one)
    }
  }
  const isNamed = (name: string) => Object.keys(notLocked).some((prefix) => name.startsWith(prefix))
  const seen = [...missing].filter((name) => !isNamed(name))
  t.same(seen, [])
  for (const prefix of Object.keys(notLocked))
    t.ok(
      [...missing].some((name) => name.startsWith(prefix)),
      `${prefix} is still an exception`,
    )
})
