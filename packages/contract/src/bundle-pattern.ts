/**
 * A bundle identifier, or all that begin like one: `com.example.*` stands for `com.example.app`, but
 * not for `com.example`.
 */
export const bundlePattern = /^[^*]+(\.\*)?$/
