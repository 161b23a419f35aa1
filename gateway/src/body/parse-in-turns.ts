import {
  countFirst,
  countParsed,
  decodeJson,
  exactJson,
  parseJson,
  parseText,
  smallJsonBytes,
  type ParsedJson,
} from '@intake/json'
import { type Turns } from '@intake/http-edge'

/** Up to this size even the slow parser, `parseLossless`, finishes within a few milliseconds. */
const shortJsonBytes = 64 * 1024

/**
 * Parses a JSON document like `parseJson`. A document that is not small waits for the turn of its
 * API key, so that no API key keeps the event loop busy.
 *
 * @param options.account the API key of the request
 * @param options.nodes number of members and elements, if already counted
 */
export async function parseInTurns(
  json: Buffer,
  options: {
    turns: Turns
    account: string
    nodesMax: number
    nodes?: number | undefined
    charge: (bytes: number) => void
  },
): Promise<ParsedJson> {
  const { turns, account } = options
  if (json.length <= smallJsonBytes) return parseJson(json, options)
  if (json.length <= shortJsonBytes) return turns.take(account, () => parseJson(json, options))
  const { text, isCounted } = await turns.takeLong(account, () => {
    const counted = countFirst(json, options)
    return { text: decodeJson(json), isCounted: counted }
  })
  const parsed = await turns.takeLong(account, () => {
    const found = parseText(text)
    if (!isCounted) countParsed(json, found, options)
    return found
  })
  const exact = () => exactJson(text, parsed, json.length)
  return parsed.isRounded ? turns.takeLong(account, exact) : exact()
}
