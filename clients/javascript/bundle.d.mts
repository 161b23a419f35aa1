/** Resolves to the web client as one minified module. */
export function bundleWeb(): Promise<string>
