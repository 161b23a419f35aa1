/** Returns the base URL of all requests. `/api` is appended to an address without a path. */
export const prefixOf = (url: string): string => {
  const prefix = url.replace(/\/+$/, '')
  return /^([a-z]+:\/\/[^/]+)?$/i.test(prefix) ? `${prefix}/api` : prefix
}
