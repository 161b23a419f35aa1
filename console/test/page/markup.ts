import type { Test } from 'tap'

const tag = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z][a-zA-Z0-9-]*(?:="[^"<>]*")?)*)\s*\/?>/g
const attribute = /\s([a-zA-Z][a-zA-Z0-9-]*)(?:="([^"<>]*)")?/g
/** The attributes that the page's templates use. None of them runs a script. */
const attributes = new Set(
  (
    'lang charset name content rel href type id class for size autocomplete spellcheck required action ' +
    'role aria-label aria-current aria-hidden value maxlength datetime src alt loading width height scope colspan tabindex ' +
    'title placeholder list hidden data-variant data-since defer viewBox x y dx x1 x2 y1 y2 cx cy r rx d points ' +
    'http-equiv data-key data-label open'
  ).split(' '),
)
const tags = new Set(
  (
    'html head meta title link body a header nav form label input button main h1 h2 h3 p article bdi span ul ' +
    'li img time dl dt dd div table thead tbody tr th td details summary pre code section aside footer b i br small ol ' +
    'blockquote strong em hr del datalist option dialog output svg g rect line path circle text'
  ).split(' '),
)

/**
 * Checks that a document consists only of harmless tags and text. Every value from a record must be
 * text or in double quotes, and every link, picture and form must lead to the page itself.
 */
export function checkMarkup(t: Test, document: string, path: string): void {
  const rest = document.replace(/^<!doctype html>/, '').replaceAll(tag, (_, slash, name, list) => {
    const isScript =
      name === 'script' && (slash === '/' || /^ src="\/(?:keys|live)\.\w+\.js" defer$/.test(list))
    const isLive = path.startsWith('/live') && name === 'noscript'
    if (!tags.has(name as string) && !isScript && !isLive) t.fail(`${path}: tag ${name}`)
    for (const [, key = '', value = ''] of (list as string).matchAll(attribute)) {
      if (!attributes.has(key)) t.fail(`${path}: attribute ${key}`)
      if (
        ['href', 'src', 'action'].includes(key) &&
        !/^(\/(?!\/)|\?|#[\p{L}\w-]+$|mailto:[\w.%+-]+%40[\w.-]+\?subject=)/u.test(value)
      ) {
        t.fail(`${path}: ${key} leads to ${value}`)
      }
    }
    return ''
  })
  t.notMatch(rest, /[<>]/, `${path}: everything else is text`)
}
