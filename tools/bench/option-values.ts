import { parseArgs, type ParseArgsConfig } from 'node:util'

type Config = NonNullable<ParseArgsConfig['options']>
type Values<Options extends Config> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Options }>
>['values']

/** An invalid option; the message is shown to the user. */
export class OptionError extends Error {
  override name = 'OptionError'
}

/**
 * Parses the options of a command.
 *
 * @throws {OptionError} if an option is unknown, or its value is missing
 */
export function parseOptions<const Options extends Config>(
  args: string[],
  options: Options,
): Values<Options> {
  try {
    return parseArgs({ args, options }).values
  } catch (error) {
    const { message } = error as Error
    // Keeps only the first sentence of Node's message. The rest is about arguments that begin with
    // a dash.
    throw new OptionError(`${message.split('. ')[0]}; --help lists the options.`)
  }
}

export function oneOf(option: string, list: string, known: readonly string[]): string[] {
  const names = [...new Set(list.split(',').map((name) => name.trim()))]
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length === 0) return names
  throw new OptionError(
    `--${option}: there is no ${unknown.join(', ')}; known: ${known.join(', ')}`,
  )
}

export function positive(option: string, value: string): number {
  const number = Number(value)
  if (number > 0) return number
  throw new OptionError(`--${option} takes a number above 0`)
}

export function wholeNumber(option: string, value: string): number {
  const number = positive(option, value)
  if (Number.isInteger(number)) return number
  throw new OptionError(`--${option} takes a whole number`)
}
