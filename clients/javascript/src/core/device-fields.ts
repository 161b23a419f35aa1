/**
 * Documented properties of the device that only feedback carries. In a batch of log events, they
 * would nearly double the size of the field `device`.
 */
const feedbackOnly =
  'build_hardware build_host build_security_patch build_tags build_time build_type build_user build_version_codename build_version_incremental first_install_time is_emulator last_update_time'.split(
    ' ',
  )

/** Selects the properties of the device that log events carry. */
export function logDevice(device: Record<string, unknown>): Record<string, unknown> {
  const copy = { ...device }
  for (const name of feedbackOnly) delete copy[name]
  return copy
}
