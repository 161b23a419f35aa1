/** An event whose name ends with one of these words counts as a crash or an error. */
export const badWords = 'crash crashed error errors exception anr fail failed failure fatal'.split(
  ' ',
)

const spelled = (spell: (word: string) => string) => badWords.map(spell).join('|')
/**
 * A regular expression for such names, as in `payment_failed`, `NetworkError` and `APP_CRASH`, but
 * not `error_resolved`. It works in JavaScript and in ClickHouse.
 */
export const badNames =
  `(?:^|[^A-Za-z])(?:${spelled((word) => word)})$|` +
  `(?:${spelled((word) => word.charAt(0).toUpperCase() + word.slice(1))})$|` +
  `(?:^|[^A-Z])(?:${spelled((word) => word.toUpperCase())})$`
const pattern = new RegExp(badNames)

/** Whether an event counts as bad because of its name. This affects only what the page shows. */
export const isBadEvent = (name: string): boolean => pattern.test(name)
