import type { Traits } from './secret-files.ts'

/**
 * Splits a list of URLs. A password may contain a comma, so only a comma before a URL separates two
 * URLs.
 */
export const splitUrls = (list: string): string[] => list.split(/,\s*(?=\w+:\/\/)/)

/**
 * Removes the credentials from text with one or more URLs. Does not use `URL`, which rejects a URL
 * with several hosts. A password may contain `@`.
 */
export const withoutCredentials = (urls: string): string => urls.replaceAll(/\/\/[^/?#]*@/g, '//')

/**
 * Returns the URLs in the value of a setting with credentials. A list gives each of its URLs. A URL
 * with several hosts of a Redis Cluster gives one URL for each host.
 */
export const urlsIn = ({ isUrlList }: Traits, value: string): string[] =>
  (isUrlList ? splitUrls(value) : [value]).flatMap(urlPerHost)

/**
 * Returns one URL for each host. Only a URL of Redis can name several hosts:
 * `redis+cluster://user:password@host,host`.
 */
function urlPerHost(value: string): string[] {
  const [, head = '', hosts = '', rest = ''] =
    /^(rediss?(?:\+\w+)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([^]*)$/.exec(value) ?? []
  return hosts.includes(',') ? hosts.split(',').map((host) => head + host + rest) : [value]
}

/**
 * Describes a problem of these URLs as the end of a sentence, without any part of a URL; undefined
 * if all of them can be used.
 */
export function findUrlProblem(urls: readonly string[]): string | undefined {
  if (!urls.every(isUrl)) {
    return 'must be a URL whose user and password are percent-encoded ("/" is %2F, "%" is %25)'
  }
  const isAddressed = urls.every((url) => !new URL(url).host.includes(','))
  return isAddressed ? undefined : 'must have one host in a URL'
}

/**
 * Whether a URL can be used. A `/`, `?` or `#` in the password must be encoded. Otherwise the URL
 * parser ends the host there, within the password, and takes the rest for a path.
 */
function isUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { username, password } = new URL(url)
  if (url.includes('@') && username === '' && password === '') return false
  return canDecode(username) && canDecode(password)
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
