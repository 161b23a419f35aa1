// npm run release runs the checks before a tag (docs/releasing.md), and if all pass, fills the folder
// `release` with what is published. Nothing is committed, tagged or published.
//   --set 0.2.0       only writes the version into manifests, Helm chart, Kotlin client and changelog
//   --check           only checks; exits with 1 if one fails
//   --without-images  does not check the contents of the images
//   --local           only fills the folder
//   --to FOLDER       names another folder, which is emptied first
//   --without-kotlin  leaves out what needs Maven
// INTAKE_IMAGES names the registry and folder of the images in the release's docker-compose.yml.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { bootstrap, root } from './bootstrap.mjs'
import {
  findChangelogProblems,
  findManifestProblems,
  findReportProblems,
  manifestPaths,
  setChartVersion,
  setPomVersion,
  startSection,
} from './release-rules.mjs'

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    local: { type: 'boolean', default: false },
    to: { type: 'string', default: join(root, 'release') },
    'without-kotlin': { type: 'boolean', default: false },
    'without-images': { type: 'boolean', default: false },
    set: { type: 'string' },
  },
})
const run = (command, ...args) =>
  execFileSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 ** 2,
  })
const read = (file) => readFileSync(join(root, file), 'utf8')
/** Files with the version of the release, besides the manifests, by what writes it into them. */
const versioned = {
  'deploy/helm/intake/Chart.yaml': setChartVersion,
  'clients/kotlin/pom.xml': setPomVersion,
}
const manifests = run('git', 'ls-files', '--', ...manifestPaths)
  .trim()
  .split('\n')

if (values.set !== undefined) setVersion(values.set)
else if (values.check) await check()
else if (values.local || (await check())) await fillFolder()

async function fillFolder() {
  await bootstrap()
  const { fillReleaseFolder } = await import('./release/folder.mjs')
  await fillReleaseFolder({
    version: JSON.parse(read('package.json')).version,
    folder: resolve(values.to),
    images: process.env.INTAKE_IMAGES,
    kotlin: !values['without-kotlin'],
  })
}

function setVersion(version) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`${version} is not of the form 1.2.3`)
  for (const file of manifests) {
    // Edits the text of the file, so that nothing else in it changes.
    writeFileSync(join(root, file), read(file).replace(/("version": ")[^"]+/, `$1${version}`))
  }
  for (const [file, set] of Object.entries(versioned)) {
    writeFileSync(join(root, file), set(read(file), version))
  }
  const today = new Date().toISOString().slice(0, 10)
  writeFileSync(join(root, 'CHANGELOG.md'), startSection(read('CHANGELOG.md'), version, today))
  console.log(
    `Set ${version} in ${manifests.length} manifests, the Helm chart, the Kotlin client and CHANGELOG.md.`,
  )
}

/** Resolves to whether every check has passed. */
async function check() {
  await bootstrap()
  const { version } = JSON.parse(read('package.json'))
  const checks = {
    'versions are equal, and no package goes to npm': () =>
      findManifestProblems(manifests.map((file) => ({ file, ...JSON.parse(read(file)) }))),
    'the Helm chart and the Kotlin client have the version': () =>
      Object.entries(versioned)
        .filter(([file, set]) => set(read(file), version) !== read(file))
        .map(([file]) => `${file} has another`),
    'the changelog has a section for the version': () =>
      findChangelogProblems(read('CHANGELOG.md'), version),
    'the measured costs are those of the code': () =>
      findReportProblems(read('tools/bench/results/latest.md'), (commit, paths) =>
        run('git', 'diff', '--name-only', commit, 'HEAD', '--', ...paths)
          .split('\n')
          .filter(Boolean),
      ),
    'everything is committed': () =>
      run('git', 'status', '--porcelain').split('\n').filter(Boolean),
    'the tag is new': () =>
      run('git', 'tag', '--list', `v${version}`).trim() === '' ? [] : [`v${version} exists`],
    'the generated pages are those of the code': () =>
      execute(process.execPath, 'tools/scripts/generate.mjs', '--check'),
    ...(!values['without-images'] && {
      'the contents of the images start, and have licences that are known': checkImages,
    }),
  }
  for (const [what, find] of Object.entries(checks)) {
    const problems = await problemsOf(find)
    console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${what}`)
    for (const problem of problems) console.log(`     ${problem}`)
    if (problems.length > 0) process.exitCode = 1
  }
  return process.exitCode !== 1
}

/** An error is the problem of a check that throws, so that the others still run. */
async function problemsOf(find) {
  try {
    return await find()
  } catch (error) {
    return [error.message]
  }
}

function checkImages() {
  const folder = mkdtempSync(join(tmpdir(), 'intake-images-'))
  try {
    return execute('sh', 'deploy/check-images.sh', folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a command. Returns the last five lines of its output if it fails, otherwise nothing. */
function execute(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  return status === 0 ? [] : `${stdout}${stderr}`.trim().split('\n').slice(-5)
}
