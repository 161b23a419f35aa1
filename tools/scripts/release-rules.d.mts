interface Manifest {
  file: string
  version?: string
  private?: boolean
}

export const manifestPaths: readonly string[]
export function findManifestProblems(manifests: readonly Manifest[]): string[]
export function findReportProblems(
  report: string,
  changedSince: (commit: string, paths: readonly string[]) => string[],
): string[]
export function findChangelogProblems(changelog: string, version: string): string[]
export function startSection(changelog: string, version: string, date: string): string
export function setChartVersion(chart: string, version: string): string
export function setPomVersion(pom: string, version: string): string
export function findLicenceProblems(list: Record<string, { name: string }[]>): string[]
