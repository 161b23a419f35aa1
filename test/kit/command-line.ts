import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the path of the built command line of this tree or an earlier one. */
export function commandLine(root: string): string {
  const path = join(root, 'tools/cli/dist/main.js')
  return existsSync(path) ? path : join(root, 'packages/cli/dist/main.js')
}
