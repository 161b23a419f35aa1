import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const timeout = 20 * 60_000
const cache = fileURLToPath(new URL('.cache/', import.meta.url))
const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))

/** How to start a program that asks as an analyst; the rest of its arguments is added. */
export type Command = [program: string, ...args: string[]]

export interface Tool {
  name: string
  /** Installs the tool; rejects if that is not possible on this machine. */
  install(): Promise<Command>
}

const folderOf = (name: string) => {
  const folder = join(cache, name)
  mkdirSync(folder, { recursive: true })
  return folder
}

async function installPython(script: string, ...packages: string[]): Promise<Command> {
  const folder = folderOf(script)
  await run('python3', ['-m', 'venv', folder], { timeout })
  const python = join(folder, 'bin/python')
  await run(python, ['-m', 'pip', 'install', '--quiet', '--upgrade', ...packages], { timeout })
  return [python, pathOf(script)]
}

async function installNpm(): Promise<Command> {
  const folder = folderOf('npm')
  writeFileSync(join(folder, 'package.json'), '{}')
  await run('npm', ['install', '--silent', '@clickhouse/client@latest'], { cwd: folder, timeout })
  return [process.execPath, pathOf('analyst.mjs'), folder]
}

async function installJdbc(version: string): Promise<Command> {
  const folder = folderOf(`jdbc-${version}`)
  const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`]
  const options = ['-B', '-ntp', '-q', `-Ddriver=${version}`, '-f', pathOf('pom.xml')]
  await run('mvn', [...options, ...goal], { timeout })
  const zone = '-Duser.timezone=Europe/Berlin'
  return ['java', zone, '-cp', join(folder, '*'), pathOf('Analyst.java')]
}

async function installGo(): Promise<Command> {
  const folder = folderOf('go')
  copyFileSync(pathOf('analyst.go'), join(folder, 'analyst.go'))
  writeFileSync(join(folder, 'go.mod'), 'module tools\n\ngo 1.24\n')
  const options = { cwd: folder, timeout }
  await run('go', ['get', 'github.com/ClickHouse/clickhouse-go/v2@latest'], options)
  await run('go', ['build', '-o', 'tool', '.'], options)
  return [join(folder, 'tool')]
}

/** The newest release of each, except where a program of others uses an earlier one. */
export const tools = {
  python: {
    name: 'clickhouse-connect, pandas, SQLAlchemy',
    install: () =>
      installPython('analyst.py', 'clickhouse-connect', 'pandas', 'pyarrow', 'sqlalchemy'),
  },
  // Later ones download a program from a host that is no registry.
  dbt: {
    name: 'dbt',
    install: () => installPython('dbt.py', 'dbt-core<1.12', 'dbt-clickhouse<1.10'),
  },
  npm: { name: '@clickhouse/client', install: installNpm },
  'jdbc-0.9.4': { name: 'clickhouse-jdbc 0.9.4 (DBeaver)', install: () => installJdbc('0.9.4') },
  'jdbc-0.10.0': { name: 'clickhouse-jdbc 0.10.0', install: () => installJdbc('0.10.0') },
  go: { name: 'clickhouse-go (Grafana)', install: installGo },
} satisfies Record<string, Tool>
