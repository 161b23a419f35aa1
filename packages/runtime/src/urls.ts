import type { Traits } from './secret-files.ts'

/** A password may contain a comma, so only a comma before a URL separates two of them. */
export const splitUrls = (list: string): string[] => list.split(/,\s*(?=\w+:\/\/)/)

/** `URL` would reject several hosts. A password may contain `@`. */
export const withoutCredentials = (urls: string): string => urls.replaceAll(/\/\/[^/?#]*@/g, '//')

/** Each URL of a list, and one for each host of a Redis Cluster. */
export const urlsIn = ({ isUrlList }: Traits, value: string): string[] =>
  (isUrlList ? splitUrls(value) : [value]).flatMap(urlPerHost)

/** Only a URL of Redis can have several hosts: `redis+cluster://user:password@host,host`. */
function urlPerHost(value: string): string[] {
  const [, head = '', hosts = '', rest = ''] =
    /^(rediss?(?:\+\w+)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([^]*)$/.exec(value) ?? []
  return hosts.includes(',') ? hosts.split(',').map((host) => head + host + rest) : [value]
}

/** The end of a sentence, without any part of a URL; undefined if all can be used. */
export function findUrlProblem(urls: readonly string[]): string | undefined {
  if (!urls.every(isUrl)) {
    return 'must be a URL whose user and password are percent-encoded ("/" is %2F, "%" is %25)'
  }
  const isAddressed = urls.every((url) => !new URL(url).host.includes(','))
  return isAddressed ? undefined : 'must have one host in a URL'
}

/** An unencoded `/`, `?` or `#` in the password ends the host for the URL parser. */
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
