import { median } from '../statistics.ts'

/** Prints the median of the values, with the smallest and the largest in brackets. */
export function range(values: readonly number[], digits: number): string {
  const show = (value: number) => number(value, digits)
  if (values.length === 1) return show(values[0] as number)
  if (values.some(Number.isNaN)) return '–'
  return `${show(median(values))} (${show(Math.min(...values))}–${show(Math.max(...values))})`
}

/** Prints a number with this many digits; a dash for NaN. */
export function number(value: number, digits = 0): string {
  if (Number.isNaN(value)) return '–'
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

/** Prints the median of the ratios, with the smallest and the largest in brackets. */
export function ratioRange(values: readonly number[]): string {
  if (values.length === 0) return '–'
  const middle = ratio(median(values))
  if (values.length === 1) return middle
  return `${middle} (${shown(Math.min(...values))}–${shown(Math.max(...values))})`
}

const shown = (value: number) => value.toFixed(value < 0.2 ? 3 : 2)

/** Prints a ratio; a dash for NaN. */
export const ratio = (value: number) => (Number.isNaN(value) ? '–' : `${shown(value)} ×`)
