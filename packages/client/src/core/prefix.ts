/** The prefix of all paths: an address without a path stands for its `/api`. */
export function prefixOf(url: string): string {
  const prefix = url.replace(/\/+$/, '')
  return /^[a-z]+:\/\/[^/]+$/i.test(prefix) || prefix === '' ? `${prefix}/api` : prefix
}
