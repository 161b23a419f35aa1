// Fills the folder `release` with everything that a release publishes (docs/releasing.md).
import { execFileSync, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../bootstrap.mjs'
import { packFolder, packProgram, programs } from './bundle.mjs'
import { composeOfImages, mountedFiles } from './compose.mjs'
import { writeSbom } from './write-sbom.mjs'

const mavenMs = 10 * 60_000

/**
 * Fills a folder anew. Needs a built clone, but no container engine, and no network once Maven and
 * pnpm have run. `images` is registry and folder of the images, if they are known.
 */
export async function fillReleaseFolder({ version, folder, images, kotlin }) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  packFolder(join(root, 'clients/javascript'), folder)
  for (const program of programs) await packProgram(program, version, folder)
  if (kotlin) packKotlin(version, folder)
  // The chart has symbolic links to files of other folders, which Helm replaces by the files.
  tar(join(folder, `intake-chart-${version}.tgz`), join(root, 'deploy/helm'), '-h', 'intake')
  writeCompose(folder, { version, images })
  cpSync(join(root, 'packages/schema/migrations'), join(folder, 'migrations'), { recursive: true })
  const { openApi } = await import('../generate/open-api.mjs')
  writeFileSync(join(folder, 'openapi.json'), `${JSON.stringify(openApi, null, 2)}\n`)
  // Of all services and the command line; deploy/sbom.mjs makes one for each image.
  writeSbom(root, join(folder, 'sbom.cdx.json'), ['gateway', 'worker', 'console', 'cli'])
  const compose = ['docker-compose.yml', 'deploy', 'migrations']
  tar(join(folder, `intake-compose-${version}.tgz`), folder, ...compose)
  writeSums(folder)
  for (const name of readdirSync(folder).toSorted()) {
    const stat = statSync(join(folder, name))
    console.log(stat.isFile() ? `${name}  ${Math.ceil(stat.size / 1024)} KiB` : `${name}/`)
  }
}

function tar(tarball, from, ...args) {
  execFileSync('tar', ['-c', '-z', '-f', tarball, ...args], { cwd: from })
}

/** Builds the Kotlin client into a Maven repository, if Maven has or can load what it needs. */
function packKotlin(version, folder) {
  if (spawnSync('mvn', ['--version'], { stdio: 'ignore' }).status !== 0) {
    console.log('Without the Kotlin client: there is no Maven.')
    return
  }
  const repository = join(folder, 'maven')
  const options = '-B -q -ntp -DskipTests -Dmaven.install.skip=true -Dkotlin.compiler.daemon=false'
  const pom = join(root, 'clients/kotlin/pom.xml')
  const target = `-DaltDeploymentRepository=release::default::file:${repository}`
  const args = [...options.split(' '), '-f', pom, 'deploy', target]
  const { status, stdout } = spawnSync('mvn', args, { encoding: 'utf8', timeout: mavenMs })
  if (status === 0) tar(join(folder, `intake-client-kotlin-${version}-maven.tgz`), folder, 'maven')
  else {
    rmSync(repository, { recursive: true, force: true })
    const [reason] = /^\[ERROR\].*$/m.exec(stdout) ?? ['it did not end in time']
    console.log(`Without the Kotlin client: Maven failed: ${reason}`)
  }
}

/** Writes docker-compose.yml for the published images, and beside it the files that it mounts. */
function writeCompose(folder, release) {
  const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
  writeFileSync(join(folder, 'docker-compose.yml'), composeOfImages(compose, release))
  for (const file of mountedFiles(compose)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file), { recursive: true })
  }
}

/** Writes SHA256SUMS, as `sha256sum --check` reads it. */
function writeSums(folder) {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile())
  const names = files.map(({ name }) => name).toSorted()
  const sum = (name) => hash('sha256', readFileSync(join(folder, name)))
  writeFileSync(join(folder, 'SHA256SUMS'), names.map((name) => `${sum(name)}  ${name}\n`).join(''))
}
