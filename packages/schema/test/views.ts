/** Every view, in the order of names. A new view is added here, or the tests of this folder fail. */
export const views = [
  'dead_letters',
  'devices',
  'feedback',
  'feedback_flat',
  'gaps',
  'logs',
  'logs_flat',
  'outcomes',
  'sessions',
  'watermark',
]

/** The views of records, which have the column `bundle_identifier`. */
export const recordViews = [
  'logs',
  'feedback',
  'logs_flat',
  'feedback_flat',
  'devices',
  'sessions',
  'gaps',
]
