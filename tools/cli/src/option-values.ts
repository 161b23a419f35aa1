import { parseTime, timeForm } from '@intake/runtime'
import { InvalidArgumentError } from 'commander'

/** Returns a parser of numbers for commander; without a pattern, of whole ones. */
export const numberOption =
  ({ min = 1, max = Infinity, pattern = /^\d+$/, message = wholeNumber(min, max) }) =>
  (text: string): number => {
    const number = Number(text)
    if (pattern.test(text) && number >= min && number <= max) return number
    throw new InvalidArgumentError(message)
  }

const wholeNumber = (min: number, max: number) => `It must be a whole number from ${min} to ${max}.`

/** A number without a sign, perhaps with a fraction or an exponent. */
export const decimal = /^(\d{1,12}(\.\d{0,6})?|\.\d{1,6})(e\d{1,2})?$/i

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000 } as const

/** Returns a parser of periods such as `10m`, in milliseconds. */
export const periodOption =
  (units: string, message: string) =>
  (text: string): number => {
    const [, count, unit = ''] = /^(\d{1,4})([smh])$/.exec(text) ?? []
    const ms = units.includes(unit) ? Number(count) * unitsMs[unit as keyof typeof unitsMs] : 0
    if (ms > 0) return ms
    throw new InvalidArgumentError(message)
  }

export function timeOption(text: string): Date {
  const time = parseTime(text)
  if (time === undefined) throw new InvalidArgumentError(`It must be ${timeForm}.`)
  return time
}

/** The applications of a pattern such as `com.example.*` are not known, so it is refused. */
export function wholeBundle(text: string): string {
  if (text !== '' && !text.includes('*')) return text
  throw new InvalidArgumentError('Name one application by its whole bundle identifier.')
}
