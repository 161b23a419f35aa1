import { execFileSync } from 'node:child_process'
import { pnpm } from '../bootstrap.mjs'

/** Writes, in the format CycloneDX, what applications need of the packages below a folder. */
export function writeSbom(folder, file, applications) {
  const [npx, ...options] = pnpm()
  const format = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--out', file]
  const filters = applications.map((name) => `--filter-prod=@intake/${name}...`)
  execFileSync(npx, [...options, 'sbom', ...format, '--prod', ...filters], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 300_000,
  })
}
