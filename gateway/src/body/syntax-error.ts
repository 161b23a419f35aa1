/** A document of up to this many characters is scanned in about a millisecond. */
const scannedMax = 16 * 1024

/**
 * Says where a document stops to be JSON, such as `line 2, column 7`. Contains nothing of the
 * document. Returns undefined if it is JSON, or too long to be scanned.
 */
export function describeSyntaxError(text: string): string | undefined {
  const at = text.length > scannedMax ? undefined : findSyntaxError(text)
  if (at === undefined) return undefined
  const before = text.slice(0, at).split('\n')
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
  return at === text.length ? `it ends too early, at ${place}` : place
}

const space = /[ \t\r\n]*/y
/** All characters that a string may contain unescaped. */
const plainCharacters = /[ !\u0023-\u005b\u005d-\uffff]*/y
const escape = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y

/** Returns the end of what `pattern` matches at this position; undefined if it does not match. */
function match(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** Returns the position of the first character that is wrong; undefined if the text is JSON. */
export function findSyntaxError(text: string): number | undefined {
  /** What must come next. Instead of what ends with `?`, the closing bracket may come, too. */
  let next: 'value' | 'value?' | 'name' | 'name?' | 'colon' | 'more' = 'value'
  const open: string[] = []
  let at = 0
  for (;;) {
    at = match(space, text, at) ?? at
    const char = text[at]
    const closes = char === open.at(-1)
    if (char === undefined) return next === 'more' && open.length === 0 ? undefined : at
    if (closes && (next === 'more' || next.endsWith('?'))) {
      open.pop()
      next = 'more'
      at++
    } else if (next === 'more') {
      if (char !== ',' || open.length === 0) return at
      next = open.at(-1) === '}' ? 'name' : 'value'
      at++
    } else if (next === 'colon') {
      if (char !== ':') return at
      next = 'value'
      at++
    } else if (char === '"') {
      const { end, isWrong } = readString(text, at + 1)
      if (isWrong) return end
      next = next.startsWith('name') ? 'colon' : 'more'
      at = end
    } else if (next.startsWith('name')) return at
    else if (char === '{' || char === '[') {
      open.push(char === '{' ? '}' : ']')
      next = char === '{' ? 'name?' : 'value?'
      at++
    } else {
      const end = match(scalar, text, at)
      if (end === undefined) return at
      next = 'more'
      at = end
    }
  }
}

/** @param at the position after the opening quote */
function readString(text: string, at: number): { end: number; isWrong: boolean } {
  for (;;) {
    at = match(plainCharacters, text, at) ?? at
    if (text[at] === '"') return { end: at + 1, isWrong: false }
    const end = match(escape, text, at)
    if (end === undefined) return { end: at, isWrong: true }
    at = end
  }
}
