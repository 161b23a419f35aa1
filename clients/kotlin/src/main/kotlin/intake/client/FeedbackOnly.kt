package intake.client

// Generated from packages/contract/src/device-fields.ts by `npm run generate`. Do not edit.

/**
 * Documented properties that are sent only with feedback. In a batch of log events, they would
 * nearly double the size of the device's properties.
 */
internal val feedbackOnly =
    setOf(
        "build_hardware",
        "build_host",
        "build_security_patch",
        "build_tags",
        "build_time",
        "build_type",
        "build_user",
        "build_version_codename",
        "build_version_incremental",
        "first_install_time",
        "is_emulator",
        "last_update_time",
    )
