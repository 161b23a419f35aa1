/**
 * Matches a character that is invisible or changes how other characters are shown: a control, a
 * format character or a filler, such as a direction override, a zero-width character or a tag. On a
 * terminal some of these characters move the cursor or set the title. Tabs, line feeds, and
 * characters that join or vary emoji and letters do not match.
 */
export const invisible =
  /(?!\t|\n|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/u

const all = new RegExp(invisible.source, 'gu')

/** Returns the usual notation of a character's code: `U+202E`. */
export const codeOf = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

/**
 * Replaces the line ends of Windows (`\r\n`) and of old systems (`\r`) by line feeds, so that a
 * text has no carriage returns.
 */
export const withLineFeeds = (text: string): string => text.replaceAll(/\r\n?/g, '\n')

/**
 * Prepares a text for a terminal: invisible characters are shown by their codes, such as
 * `<U+001B>`. Tabs and line ends are kept; a line end becomes a line feed.
 */
export const visibleText = (text: string): string =>
  withLineFeeds(text.toWellFormed()).replaceAll(all, (character) => `<${codeOf(character)}>`)

/**
 * Like `visibleText`, but in one line, so that a text from outside cannot look like the next line
 * or the next column.
 */
export const visibleLine = (text: string): string =>
  visibleText(text).replaceAll(/[\t\n]/g, (character) => `<${codeOf(character)}>`)

/**
 * Returns equivalent JSON that is safe on a terminal. All invisible characters are escaped;
 * `JSON.stringify` escapes only those below U+0020.
 */
export const visibleJson = (json: string): string =>
  json.replaceAll(all, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  )

const escaped = (unit: number) => String.raw`\u` + unit.toString(16).padStart(4, '0')
