/** Resolves to the web client as one minified module. */
export function bundleWeb(): Promise<string>
/** The names of properties that it shortens, separated by spaces. */
export const internal: string
