export type RedisAddress =
  | { topology: 'single'; url: string }
  | (Access & { topology: 'cluster'; nodes: HostPort[] })
  | (Access & { topology: 'sentinel'; sentinels: HostPort[]; name: string; sentinel: Credentials })

interface Credentials {
  username: string | undefined
  password: string | undefined
}

/** How to access the servers that hold the data, which are not the sentinels. */
interface Access extends Credentials {
  tls: boolean
}

export interface HostPort {
  host: string
  port: number
}

const forms =
  'redis://host:port, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/name ' +
  '(with TLS rediss://, rediss+cluster://, rediss+sentinel://)'
const ports = { cluster: 6379, sentinel: 26_379 }

/**
 * User and password are percent-encoded and apply to every server that holds data;
 * `sentinel_username` and `sentinel_password` in the query to the sentinels.
 *
 * @throws {RangeError} says what is wrong with `REDIS_URL`, and quotes no part of it
 */
export function parseRedisUrl(url: string): RedisAddress {
  const parts = /^redis(s?)(?:\+(cluster|sentinel))?:\/\/([^/?#]*@)?([^/?#@]*)([^]*)$/.exec(url)
  if (parts === null) throw new RangeError(`REDIS_URL must be ${forms}`)
  const [, s, topology, userinfo = '', hosts = '', rest = ''] = parts
  if (topology === undefined) {
    if (hosts.includes(',')) {
      throw new RangeError(`REDIS_URL has several hosts: it must be ${forms}`)
    }
    readUrl(url)
    return { topology: 'single', url }
  }
  const list = hosts.split(',').map((host) => readHost(host, ports[topology as 'cluster']))
  const { credentials, pathname, searchParams, hash } = readUrl(`tcp://${userinfo}host${rest}`)
  if (hash !== '') throw new RangeError('REDIS_URL is not a valid URL')
  const access = { tls: s === 's', ...credentials }
  const unknown = [...searchParams.keys()].filter(
    (key) => topology !== 'sentinel' || !/^sentinel_(username|password)$/.test(key),
  )
  if (unknown.length > 0) throw new RangeError('REDIS_URL has a parameter that is not known')
  if (topology === 'cluster') {
    if (pathname !== '' && pathname !== '/') {
      throw new RangeError('REDIS_URL must end after the hosts: Redis Cluster has one database')
    }
    return { topology, nodes: list, ...access }
  }
  const name = decode(pathname.slice(1))
  if (!/^[\w.-]+$/.test(name)) {
    throw new RangeError(
      'REDIS_URL must end with the name that the sentinels give the primary: redis+sentinel://host:port/name',
    )
  }
  const sentinel = {
    username: searchParams.get('sentinel_username') ?? undefined,
    password: searchParams.get('sentinel_password') ?? undefined,
  }
  return { topology: 'sentinel', sentinels: list, name, sentinel, ...access }
}

/** The user and password of the servers that hold the data; absent if not set. */
export function credentialsOf(address: RedisAddress): { username?: string; password?: string } {
  const { username, password } =
    address.topology === 'single' ? readUrl(address.url).credentials : address
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  }
}

function readHost(text: string, port: number): HostPort {
  const url = `tcp://${text}`
  if (text === '' || !URL.canParse(url)) {
    throw new RangeError('REDIS_URL must have a host, or host:port, between the commas')
  }
  const { hostname, port: given } = new URL(url)
  // Removes the brackets around an IPv6 address, because only a URL has them.
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: given === '' ? port : Number(given) }
}

/** @param url with one host; `URL` knows no lists */
function readUrl(url: string) {
  if (!URL.canParse(url)) throw new RangeError('REDIS_URL is not a valid URL')
  const { username, password, pathname, searchParams, hash } = new URL(url)
  const credentials: Credentials = {
    username: username === '' ? undefined : decode(username),
    password: password === '' ? undefined : decode(password),
  }
  return { credentials, pathname, searchParams, hash }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new RangeError('REDIS_URL has a "%" that is not percent-encoded ("%" is %25)')
  }
}
