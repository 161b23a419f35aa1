import type { Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { styleText } from 'node:util'
import { visibleJson, visibleLine, visibleText } from '@intake/runtime'
import type { Command } from 'commander'

/**
 * Only this module writes to standard output and standard error. Text from clients, also in
 * messages of servers, cannot move the cursor, or look like another line.
 */

interface Output {
  stdout: Writable & { isTTY?: boolean }
  stderr: Writable
}

let output: Output = process

/** Makes this module write to these streams instead of those of the process. */
export const printTo = (streams: Output): void => void (output = streams)

/** Prints the command's own texts. For text from outside use `printRow` or `visibleLine`. */
export const print = (text: string): void => void output.stdout.write(`${visibleText(text)}\n`)

/** Prints cells in one line, with tabs between them. No cell can add a tab or a line of its own. */
export const printRow = (cells: readonly string[]): void =>
  void output.stdout.write(`${cells.map(visibleLine).join('\t')}\n`)

export interface Styled {
  text: string
  style?: Parameters<typeof styleText>[0] | undefined
}

/** Prints cells in one line, with styles only if standard output is a terminal. */
export function printStyled(cells: readonly Styled[]): void {
  const hasStyles = output.stdout.isTTY && !process.env['NO_COLOR']
  const shown = cells.map(({ text, style }) => {
    const line = visibleLine(text)
    return hasStyles && style !== undefined ? styleText(style, line) : line
  })
  output.stdout.write(`${shown.join(' ')}\n`)
}

export const printJson = (value: unknown, space?: number): void =>
  void output.stdout.write(`${visibleJson(JSON.stringify(value, undefined, space))}\n`)

/**
 * Prints a JSON text as one line. Waits for a slow reader until the signal is aborted, so that
 * lines do not pile up in memory.
 */
export async function printJsonLine(json: string, signal?: AbortSignal): Promise<void> {
  const { stdout } = output
  if (stdout.write(`${visibleJson(json)}\n`) || stdout.destroyed || signal?.aborted) return
  await new Promise<void>((resolve) => {
    const end = () => {
      stdout.off('drain', end).off('close', end)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    stdout.on('drain', end).on('close', end)
    signal?.addEventListener('abort', end)
  })
}

/** The time that a reader has for the last lines of a command that was interrupted. */
const lastLinesMs = 1_000

/** Resolves to whether the remaining output was read in time. */
export async function outputEnds(): Promise<boolean> {
  const { stdout } = output
  if (stdout.destroyed || stdout.writableLength === 0) return true
  const isPrinted = new Promise<void>((resolve) => void stdout.write('', () => resolve()))
  await Promise.race([isPrinted, pause(lastLinesMs, undefined, { ref: false })])
  return stdout.writableLength === 0
}

/** Prints a line unchanged, for a shell to evaluate. Not for text from clients or servers. */
export const printForShell = (line: string): void => void output.stdout.write(`${line}\n`)

export const note = (text: string): void => void output.stderr.write(`${visibleText(text)}\n`)

/** Indents what a server's message quotes of a client, so that it looks like no message. */
export const printError = (error: unknown): void =>
  note(indentLines(visibleText(error instanceof Error ? error.message : String(error))))

const indentLines = (text: string) => text.replaceAll(/\n(?!$)/g, '\n  ')

export const clearScreen = (): void => void output.stdout.write('\u001B[2J\u001B[H')

/**
 * A closed pipe (`| head`) is no error. If output fails otherwise, the command fails: on a full
 * disk, for example, an export would be incomplete.
 */
export function configureOutput(program: Command): void {
  output.stderr.on('error', () => undefined)
  // Each further line fails too.
  output.stdout.on('error', () => undefined)
  output.stdout.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return
    printError(`The output cannot be written: ${error.message}`)
    process.once('exit', () => (process.exitCode = 1))
  })
  program.configureOutput({
    writeOut: (text) => void output.stdout.write(visibleText(text)),
    writeErr: (text) => void output.stderr.write(indentLines(visibleText(text))),
  })
}
