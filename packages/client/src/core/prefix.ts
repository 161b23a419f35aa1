/** The prefix of all paths. To an address without a path, `/api` is added. */
export function prefixOf(url: string): string {
  const prefix = url.replace(/\/+$/, '')
  return /^[a-z]+:\/\/[^/]+$/i.test(prefix) || prefix === '' ? `${prefix}/api` : prefix
}
