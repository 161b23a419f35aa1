import { BlockList, isIP } from 'node:net'
import { Type } from 'typebox'
import { problemOf } from './settings.ts'

/** @param use one sentence: what the address of a client is used for */
export const trustProxy = (use: string) =>
  Type.String({
    minLength: 1,
    findProblems: (text: string) => problemOf(() => parseTrustProxy(text)),
    description:
      'How many proxies stand in front, or their addresses, separated by commas (`10.0.0.0/8`); their `X-Forwarded-For` is ' +
      `believed, so no client may connect without them or from these addresses. ${use}`,
  })

/** Whose `X-Forwarded-For` is trusted: how many proxies in front, or their addresses. */
export type TrustedProxies = { hops: number } | { proxies: BlockList }

/** @throws {RangeError} if the text is wrong; the message is the reason */
export function parseTrustProxy(text: string | undefined): TrustedProxies {
  if (text === undefined) return { hops: 0 }
  if (/^\d{1,2}$/.test(text)) return { hops: Number(text) }
  const proxies = new BlockList()
  for (const entry of text.split(',')) addProxies(proxies, entry.trim())
  return { proxies }
}

function addProxies(proxies: BlockList, entry: string): void {
  const [address = '', bits, ...rest] = entry.split('/')
  const version = isIP(address)
  const bitsMax = version === 4 ? 32 : 128
  const prefix = bits === undefined ? bitsMax : Number(bits)
  const isPrefix = Number.isInteger(prefix) && prefix >= 0 && prefix <= bitsMax && bits !== ''
  if (version === 0 || !isPrefix || rest.length > 0) {
    throw new RangeError(
      'TRUST_PROXY must be a number of proxies, or a list of their addresses such as 10.0.0.0/8,fd00::/8',
    )
  }
  proxies.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6')
}
