// The rules that a release must follow. tools/scripts/release.mjs reads the files and applies the rules.

/**
 * Licences that permit use, change and distribution if their notice is kept; the images keep the
 * licence file of each package. Any other licence needs a decision.
 */
const licences = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
])

/** The manifests of packages, as git takes paths. That of the site only says what it installs. */
export const manifestPaths = ['package.json', '*/package.json', ':!tools/scripts/site']

/** The first of the parsed manifests is the root's; each has its path in `file`. */
export function findManifestProblems(manifests) {
  const [{ version }] = manifests
  return manifests.flatMap((manifest) => [
    ...(manifest.version === version ? [] : [`${manifest.file} has ${manifest.version}`]),
    // A package must be private, so that `npm publish` refuses it
    // (docs/decisions/0019-what-is-released.md).
    ...(manifest.private === true ? [] : [`${manifest.file} is not private`]),
  ])
}

/** Files whose changes can change the CPU costs that README.md states, as git takes paths. */
const hotPath = ['gateway/src', 'worker/src', ':(glob)packages/*/src/**', 'deploy/Dockerfile']

/** `changedSince` returns the files of the given paths that have changed since a commit. */
export function findReportProblems(report, changedSince) {
  const [, commit] = /, commit `([\da-f]+)`/.exec(report) ?? []
  // If the tree had uncommitted changes, the report has a `+` after the commit, and the pattern
  // does not match.
  if (commit === undefined) return ['tools/bench/results/latest.md is of no commit']
  const changes = changedSince(commit, hotPath)
  if (changes.length === 0) return []
  return [
    `tools/bench/results/latest.md is of ${commit.slice(0, 9)}; the hot path changed since (${changes.join(', ')}): npm run bench -- --save`,
  ]
}

/** Returns the text below a `##` heading, up to the next one; undefined without that heading. */
function section(changelog, title) {
  const [, text] = changelog.split(new RegExp(`^## ${title}\n`, 'm'))
  return text?.split(/^## /m)[0].trim()
}

export function findChangelogProblems(changelog, version) {
  const text = section(changelog, `${version.replaceAll('.', '\\.')}, \\d{4}-\\d\\d-\\d\\d`)
  return [
    ...(text ? [] : [`no section "## ${version}, <date>" with text`]),
    ...(section(changelog, 'Unreleased') ? ['"Unreleased" is not empty'] : []),
  ]
}

/** Leaves an empty section "Unreleased" above that of the version. */
export function startSection(changelog, version, date) {
  if (!section(changelog, 'Unreleased')) throw new Error('"Unreleased" of the changelog is empty')
  return changelog.replace(/^## Unreleased\n/m, `## Unreleased\n\n## ${version}, ${date}\n`)
}

/** Sets the version in Chart.yaml, for the chart and for the images that it runs. */
export function setChartVersion(chart, version) {
  return chart.replaceAll(/^((?:appV|v)ersion: ).*$/gm, `$1${version}`)
}

/** Sets the version of the project in a pom.xml: that of its dependencies comes later. */
export function setPomVersion(pom, version) {
  return pom.replace(/(<version>)[^<]*/, `$1${version}`)
}

/**
 * Whether the images may contain a package with this licence, or with these, joined by OR or AND.
 */
export function isPermitted(name, licence) {
  // sharp loads libvips as a shared library, which may be replaced, as this licence demands.
  if (licence === 'LGPL-3.0-or-later') return /^(@img\/)?sharp-libvips-/.test(name)
  const names = licence.replaceAll(/[()]/g, '').split(/ (?:OR|AND) /)
  return licence.includes(' AND ')
    ? names.every((one) => licences.has(one))
    : names.some((one) => licences.has(one))
}
