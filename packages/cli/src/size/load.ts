/** What an installation has to cope with. */
export interface Load {
  eventsPerDay: number
  feedbackPerDay: number
  /** Of an event as JSON. */
  eventBytes: number
  /** Events per request. */
  batch: number
  /** Of the images of one feedback together. */
  imageBytes: number
  /** The highest rate of a day as a multiple of the mean, from 1 to 2. */
  peak: number
  outageHours: number
  retentionDays: number
  /** Clients send keys that are no UUIDv7, so that Redis keeps reservations. */
  reservations: boolean
}

export const hourSeconds = 3_600
export const daySeconds = 24 * hourSeconds

/** Events per second at an hour of the day: a cosine with its highest point at 12:00. */
export function rateAt(load: Pick<Load, 'eventsPerDay' | 'peak'>, hour: number): number {
  const mean = load.eventsPerDay / daySeconds
  return mean * (1 + (load.peak - 1) * Math.cos(((hour - 12) / 12) * Math.PI))
}

/** An outage around the hour of the highest rate: the worst case. */
export const outageBegin = (load: Pick<Load, 'outageHours'>): number => 12 - load.outageHours / 2

/**
 * A value between measured points, on a straight line, or over the logarithm of `x`. Below the first point it is that
 * one's; above the last it is proportional to `x`, or the last one's.
 */
export function interpolate(
  points: readonly (readonly [number, number])[],
  x: number,
  { logarithmic }: { logarithmic: boolean },
): number {
  const at = (value: number) => (logarithmic ? Math.log(value) : value)
  const next = points.findIndex(([known]) => known >= x)
  if (next === 0) return points[0]![1]
  if (next === -1) {
    const [last, value] = points.at(-1)!
    return logarithmic ? value : (value * x) / last
  }
  const [[x0, y0], [x1, y1]] = [points[next - 1]!, points[next]!]
  return y0 + ((y1 - y0) * (at(x) - at(x0))) / (at(x1) - at(x0))
}
