/** Documented properties that go with feedback only: they nearly double the device of a batch. */
const feedbackOnly =
  'build_hardware build_host build_security_patch build_tags build_time build_type build_user build_version_codename build_version_incremental first_install_time is_emulator last_update_time'.split(
    ' ',
  )

/** What log events carry of the properties of the device. */
export function logDevice(device: Record<string, unknown>): Record<string, unknown> {
  const copy = { ...device }
  for (const name of feedbackOnly) delete copy[name]
  return copy
}
