/** Formats a number for a person; `?` if it is not known. */

export function number(value: number | undefined): string {
  if (value === undefined) return '?'
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })
}

export function bytes(value: number): string {
  const mebibytes = value / 1024 ** 2
  if (mebibytes < 1024) return `${Math.round(mebibytes)} MiB`
  const gibibytes = mebibytes / 1024
  return gibibytes < 1024 ? `${gibibytes.toFixed(1)} GiB` : `${(gibibytes / 1024).toFixed(1)} TiB`
}

/** Formats a duration for a person; `?` if it is not known. */
export function duration(seconds: number | null | undefined): string {
  if (seconds == null) return '?'
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 2 * 3_600) return `${Math.round(seconds / 60)} min`
  return seconds < 48 * 3_600
    ? `${Math.round(seconds / 3_600)} h`
    : `${Math.round(seconds / 86_400)} d`
}

export const since = (time: string, now: Date): string =>
  duration(Math.max(0, now.getTime() - Date.parse(time)) / 1_000)
