import { metricsOf, type Registry } from '@intake/runtime/process'
import { thumbnailErrors, type ThumbnailError } from './examined.ts'

/**
 * The outcomes of examining a picture: `made`; `again` if it failed and is tried again; or the
 * reason why it has no thumbnail.
 */
const outcomes = ['made', 'again', ...thumbnailErrors] as const

/** Returns a function that counts a picture by outcome. */
export function createThumbnailMetrics(
  registry: Registry,
): (outcome: 'made' | 'again' | ThumbnailError) => void {
  const counter = metricsOf(registry).counter(
    'intake_thumbnails_total',
    'Pictures that were examined for a thumbnail, by outcome: made, again (it failed and is tried again), or why there is none.',
    ['outcome'],
    outcomes.map((outcome) => ({ outcome })),
  )
  return (outcome) => counter.inc({ outcome })
}
