/** Returns the base URL of all requests. `/api` is appended to an address without a path. */
export const prefixOf = (url: string): string =>
  url.replace(/\/+$/, '').replace(/^([a-z]+:\/\/[^/]+)?$/i, '$&/api')
