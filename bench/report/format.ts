import { median } from '../statistics.ts'

/** Median, and the smallest and largest in brackets. */
export function range(values: readonly number[], digits: number): string {
  const show = (value: number) => number(value, digits)
  if (values.length === 1) return show(values[0] as number)
  return `${show(median(values))} (${show(Math.min(...values))}–${show(Math.max(...values))})`
}

export function number(value: number, digits = 0): string {
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

export const ratio = (value: number) => `${value.toFixed(value < 0.2 ? 3 : 2)} ×`
