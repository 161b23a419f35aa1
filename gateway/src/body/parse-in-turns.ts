import {
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
 * Parses like `parseJson`. A document that is not small waits for the turn of its API key.
 *
 * @param options.account the API key of the request
 */
export async function parseInTurns(
  json: Buffer,
  options: {
    turns: Turns
    account: string
    nodesMax: number
    charge: (bytes: number) => void
  },
): Promise<ParsedJson> {
  const { turns, account } = options
  if (json.length <= smallJsonBytes) return parseJson(json, options)
  if (json.length <= shortJsonBytes) return turns.take(account, () => parseJson(json, options))
  const text = await turns.takeLong(account, () => decodeJson(json, options))
  const parsed = await turns.takeLong(account, () => {
    const found = parseText(text)
    countParsed(json, found, options)
    return found
  })
  const exact = () => exactJson(text, parsed, json.length)
  return parsed.isRounded ? turns.takeLong(account, exact) : exact()
}
