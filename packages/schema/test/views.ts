/**
 * Every view, in the order of names. A new view is added here, or the tests of this folder fail.
 */
export const views = [
  'alert_changes',
  'alert_states',
  'alerts',
  'catalogue',
  'counted',
  'counted_names',
  'crashes',
  'dead_letters',
  'deletions',
  'device_hours',
  'devices',
  'devices_flat',
  'drift',
  'feedback',
  'feedback_flat',
  'gaps',
  'hours',
  'logs',
  'logs_flat',
  'outcomes',
  'recent',
  'recounts',
  'sessions',
  'warnings',
  'watermark',
]

/** The views of records, which have the column `bundle_identifier`. */
export const recordViews = [
  'logs',
  'feedback',
  'logs_flat',
  'feedback_flat',
  'devices',
  'devices_flat',
  'sessions',
  'gaps',
  'crashes',
]
