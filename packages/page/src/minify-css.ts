/** Removes comments, and the white space, semicolons and zeros that CSS does not need. */
export const minify = (css: string): string =>
  css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>]) ?/g, '$1')
    .replaceAll(': ', ':')
    .replaceAll(';}', '}')
    .replaceAll(/(?<=[\s:,(-])0\./g, '.')
