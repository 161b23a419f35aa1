/**
 * Matches what is invisible or changes how other characters are shown: a control, format or filler
 * character, such as a direction override, a zero-width character or a tag; some move a terminal's
 * cursor or set its title. Not tabs, line feeds, and what joins or varies emoji and letters.
 */
export const invisible =
  /(?!\t|\n|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/u

const all = new RegExp(invisible.source, 'gu')

/** Returns the usual notation of a character's code: `U+202E`. */
export const codeOf = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

/** Turns line ends of Windows and of old systems into line feeds. */
export const withLineFeeds = (text: string): string => text.replaceAll(/\r\n?/g, '\n')

/** For a terminal: invisible characters become codes such as `<U+001B>`, line ends line feeds. */
export const visibleText = (text: string): string =>
  withLineFeeds(text.toWellFormed()).replaceAll(all, (character) => `<${codeOf(character)}>`)

/** In one line: a text from outside cannot look like the next line or the next column. */
export const visibleLine = (text: string): string =>
  visibleText(text).replaceAll(/[\t\n]/g, (character) => `<${codeOf(character)}>`)

/** Equivalent JSON that is safe on a terminal: `JSON.stringify` escapes only below U+0020. */
export const visibleJson = (json: string): string =>
  json.replaceAll(all, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  )

const escaped = (unit: number) => String.raw`\u` + unit.toString(16).padStart(4, '0')
