import { median } from '../statistics.ts'

/** Returns the median as text; of several values also the smallest and largest, in brackets. */
export function range(values: readonly number[], digits: number): string {
  const show = (value: number) => number(value, digits)
  if (values.length === 1) return show(values[0] as number)
  if (values.some(Number.isNaN)) return '–'
  return `${show(median(values))} (${show(Math.min(...values))}–${show(Math.max(...values))})`
}

/** Returns a number as text, with this many decimal places. NaN becomes a dash. */
export function number(value: number, digits = 0): string {
  if (Number.isNaN(value)) return '–'
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

/** Like `range`, for ratios. An empty list becomes a dash. */
export function ratioRange(values: readonly number[]): string {
  if (values.length === 0) return '–'
  const middle = ratio(median(values))
  if (values.length === 1) return middle
  return `${middle} (${shown(Math.min(...values))}–${shown(Math.max(...values))})`
}

const shown = (value: number) => value.toFixed(value < 0.2 ? 3 : 2)

/** Returns a ratio as text. NaN becomes a dash. */
export const ratio = (value: number) => (Number.isNaN(value) ? '–' : `${shown(value)} ×`)
