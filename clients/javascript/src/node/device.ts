import { arch, release, type as osType } from 'node:os'

/** Reads what Node knows about the machine. Names of hosts and users are not collected. */
export async function readDevice(): Promise<Record<string, unknown>> {
  return {
    os: osType(),
    os_version: release(),
    supported_abis: [arch()],
    runtime: 'node',
    runtime_version: process.versions.node,
  }
}
