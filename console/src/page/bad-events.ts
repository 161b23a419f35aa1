/** An event counts as bad if its name ends with one of these. This affects only what is shown. */
export const badWords = 'crash crashed error errors exception anr fail failed failure fatal'.split(
  ' ',
)

const spelled = (spell: (word: string) => string) => badWords.map(spell).join('|')
/** Matches `payment_failed`, `NetworkError`, `APP_CRASH`, not `error_resolved`; also in ClickHouse. */
export const badNames =
  `(?:^|[^A-Za-z])(?:${spelled((word) => word)})$|` +
  `(?:${spelled((word) => word.charAt(0).toUpperCase() + word.slice(1))})$|` +
  `(?:^|[^A-Z])(?:${spelled((word) => word.toUpperCase())})$`
const pattern = new RegExp(badNames)

export const isBadEvent = (name: string): boolean => pattern.test(name)
