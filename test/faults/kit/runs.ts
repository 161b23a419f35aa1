import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Runs a command. Resolves to undefined if it exits with 0, otherwise to the reason of the failure.
 */
export async function runs(
  command: string,
  args: string[],
  options: { cwd?: string } = {},
): Promise<string | undefined> {
  try {
    await run(command, args, options)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
