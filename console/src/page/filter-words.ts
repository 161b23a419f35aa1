import { isUuid, type RecordKind } from '@intake/contract'
import { invisible } from '@intake/runtime'
import { PageError } from './page-error.ts'
import { nameMax } from './records.ts'
import { readText } from './search.ts'

/** The words of a filter, as in `intake tail`, and the fields of the query string they stand for. */
const words = ['bundle', 'event', 'version', 'user', 'device', 'key', 'has', 'without']
const fieldOf = (word: string) => (word === 'bundle' ? 'app' : word)

const term = /(?:([^\s:"]+):)?("[^"]*"|\S+)/g

/**
 * Adds what a reader has typed into a filter to the query string of the list. What has no word is
 * the name of an event, a device if it is a UUID, or a part of the text of a feedback.
 *
 * @returns undefined if nothing was typed
 * @throws {PageError} 400 if a word is not known
 */
export function withTyped(query: URLSearchParams, kind: RecordKind): string | undefined {
  if (!query.has('filter')) return undefined
  const typed = readText(query, 'filter') ?? ''
  const all = new URLSearchParams(query)
  for (const name of ['filter', 'after', 'open']) all.delete(name)
  const texts: string[] = []
  for (const [whole, word, quoted = ''] of typed.matchAll(term)) {
    const value = quoted.replaceAll('"', '')
    if (word === undefined && isUuid(value)) all.set('device', value)
    else if (word === undefined) texts.push(value)
    else if (words.includes(word)) all.set(fieldOf(word), value)
    else if (/^(?:params|extra)\./.test(word)) all.set(word, value)
    else if (kind === 'feedback') texts.push(whole)
    else throw new PageError(400, unknownWord)
  }
  if (texts.length > 0) all.set(kind === 'logs' ? 'event' : 'text', texts.join(' '))
  return all.toString()
}

const unknownWord = `A filter has the words ${words.join(', ')} and params.<name>, such as event:crash version:3.5.0 params.screen:cart.`

/** The word of a field of the query string; undefined if no filter can have it. */
export const filterWord = (field: string): string | undefined =>
  /^(?:params|extra)\.|^text$/.test(field) ? field : words.find((word) => fieldOf(word) === field)

/** Whether a name can be seen, typed and found: not what is cut, empty, quoted or hidden. */
export const isTypable = (name: string): boolean =>
  /^[^"\s](?:[^"\n]*[^"\s])?$/.test(name) && name.length <= nameMax && !invisible.test(name)

export const printTerm = (word: string, value: string): string =>
  `${word}:${/\s/.test(value) ? `"${value}"` : value}`
