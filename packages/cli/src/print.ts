import { visibleJson, visibleLine, visibleText } from '@intake/runtime'
import type { Command } from 'commander'

/**
 * The only way of the commands to standard output and standard error. What clients sent, and what
 * servers say about it, is printed so that it cannot move the cursor, change colours or titles, or
 * look like another line.
 */

/**
 * Lines of a command's own words, and numbers. Of anything from outside use `printRow` or
 * `visibleLine`.
 */
export const print = (text: string): void => void process.stdout.write(`${visibleText(text)}\n`)

/** Cells with tabs between them; each stays one cell. */
export const printRow = (cells: readonly string[]): void =>
  void process.stdout.write(`${cells.map(visibleLine).join('\t')}\n`)

/** @param space as for `JSON.stringify` */
export const printJson = (value: unknown, space?: number): void =>
  void process.stdout.write(`${visibleJson(JSON.stringify(value, undefined, space))}\n`)

/**
 * A line of JSON that is one already. Waits for a slow reader, so that lines do not pile up in
 * memory.
 */
export async function printJsonLine(json: string): Promise<void> {
  const { stdout } = process
  if (stdout.write(`${visibleJson(json)}\n`) || stdout.destroyed) return
  await new Promise<void>((resolve) => {
    const end = () => {
      stdout.off('drain', end).off('close', end)
      resolve()
    }
    stdout.on('drain', end).on('close', end)
  })
}

/** A line for a shell to evaluate, from settings of this machine: unchanged. */
export const printForShell = (line: string): void => void process.stdout.write(`${line}\n`)

/** What is not the result of a command, on standard error. */
export const note = (text: string): void => void process.stderr.write(`${visibleText(text)}\n`)

/**
 * What went wrong. Only its first line begins a line: the message of a server can quote what a
 * client sent, and must not look like another message.
 */
export const printError = (error: unknown): void =>
  note((error instanceof Error ? error.message : String(error)).replaceAll('\n', '\n  '))

/** Clears a terminal. */
export const clearScreen = (): void => void process.stdout.write('\u001B[2J\u001B[H')

/**
 * Lets commander print its help and errors, which repeat arguments, like this. A closed pipe
 * (`| head`) ends nothing. A command whose result cannot be written otherwise fails: an export on a
 * full disk is incomplete.
 */
export function configureOutput(program: Command): void {
  process.stderr.on('error', () => undefined)
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return
    printError(`The output cannot be written: ${error.message}`)
    process.once('exit', () => (process.exitCode = 1))
  })
  program.configureOutput({
    writeOut: (text) => void process.stdout.write(visibleText(text)),
    writeErr: (text) => void process.stderr.write(visibleText(text.replaceAll(/\n(?!$)/g, '\n  '))),
  })
}
