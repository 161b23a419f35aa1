/** Quotes a word for a shell, unless the word needs no quotes. */
export const quoteWord = (word: string) =>
  /^[\w.,:@%+/-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
