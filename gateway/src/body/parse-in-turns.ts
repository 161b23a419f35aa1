import { nodeBytes } from '@intake/config'
import { createNodeCounter } from './json-nodes.ts'
import { decodeJson, exactValue, parseJson, parseText, smallJsonBytes } from './json.ts'
import type { Turns } from '../admission/fairness/turns.ts'

/** Up to this size even the slow parser finishes within a few milliseconds. */
const shortJsonBytes = 64 * 1024

/**
 * Parses a JSON document like `parseJson`; documents that may take long take turns with those of other
 * API keys.
 *
 * @param options.account the API key of the request
 * @param options.nodes number of members and elements, if it is known
 */
export async function parseInTurns(
  json: Buffer,
  options: {
    turns: Turns
    account: string
    nodesMax: number
    nodes?: number
    charge: (bytes: number) => void
  },
): Promise<unknown> {
  const { turns, account, nodesMax, nodes, charge } = options
  if (json.length <= smallJsonBytes) return parseJson(json, { nodesMax, charge })
  const take = json.length <= shortJsonBytes ? turns.take : turns.takeLong
  const text = await take(account, () => {
    charge((nodes ?? createNodeCounter(nodesMax).add(json)) * nodeBytes)
    return decodeJson(json)
  })
  const parsed = await take(account, () => parseText(text))
  return parsed.isRounded ? take(account, () => exactValue(text, parsed)) : parsed.value
}
