/** `com.example.*` stands for `com.example.app`, but not for `com.example`. */
export const bundlePattern = /^[^*]+(\.\*)?$/
