import type { Traits } from './secret-files.ts'

/** The URLs of a list. A comma may also be part of a password, so only one before a URL separates. */
export const splitUrls = (list: string): string[] => list.split(/,\s*(?=\w+:\/\/)/)

/** Also of several URLs, and of one with several hosts, which is none for `URL`. A password may contain `@`. */
export const withoutCredentials = (urls: string): string => urls.replaceAll(/\/\/[^/?#]*@/g, '//')

/** The URLs of a setting with credentials: one for each URL of a list, and for each host of a Redis Cluster. */
export const urlsIn = ({ isUrlList }: Traits, value: string): string[] =>
  (isUrlList ? splitUrls(value) : [value]).flatMap(urlPerHost)

/** Only a URL of Redis can name several hosts, `redis+cluster://user:password@host,host`: one for each. */
function urlPerHost(value: string): string[] {
  const [, head = '', hosts = '', rest = ''] =
    /^(rediss?(?:\+\w+)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([^]*)$/.exec(value) ?? []
  return hosts.includes(',') ? hosts.split(',').map((host) => head + host + rest) : [value]
}

/** What makes one of these URLs unusable, as the end of a sentence; never a part of it. */
export function findUrlProblem(urls: readonly string[]): string | undefined {
  if (!urls.every(isUrl)) {
    return 'must be a URL whose user and password are percent-encoded ("/" is %2F, "%" is %25)'
  }
  const isAddressed = urls.every((url) => !new URL(url).host.includes(','))
  return isAddressed ? undefined : 'must have one host in a URL'
}

/** A character that should be encoded ends the host too early; the rest of the password is then taken for a path. */
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
