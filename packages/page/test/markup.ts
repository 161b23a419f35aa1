import type { Test } from 'tap'

const tag = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*\/?>/g
const attribute = /\s([a-z-]+)(?:="([^"<>]*)")?/g
/** The attributes that the page's templates use. None of them runs a script. */
const attributes = new Set(
  (
    'lang charset name content rel href type id class for size autocomplete spellcheck required action ' +
    'role aria-label aria-current value maxlength step datetime src alt loading height scope colspan tabindex min max open'
  ).split(' '),
)
const tags = new Set(
  (
    'html head meta title link body a header nav form label input button main h1 h2 h3 p article bdi span ul ' +
    'li img time dl dt dd div table caption thead tbody tr th td details summary pre code meter'
  ).split(' '),
)

/**
 * Checks that a document consists only of harmless tags and text. Every value from a record must be
 * text or in double quotes, and every address must be one of the page itself.
 */
export function checkMarkup(t: Test, document: string, path: string): void {
  const rest = document.replace(/^<!doctype html>/, '').replaceAll(tag, (_, __, name, list) => {
    if (!tags.has(name as string)) t.fail(`${path}: tag ${name}`)
    for (const [, key = '', value = ''] of (list as string).matchAll(attribute)) {
      if (!attributes.has(key)) t.fail(`${path}: attribute ${key}`)
      if (['href', 'src', 'action'].includes(key) && !/^(\/(?!\/)|#main$)/.test(value)) {
        t.fail(`${path}: ${key} leads to ${value}`)
      }
    }
    return ''
  })
  t.notMatch(rest, /[<>]/, `${path}: everything else is text`)
}
