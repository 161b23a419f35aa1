import { readFileSync } from 'node:fs'

const text = readFileSync(new URL('../../../docs/quick-start.md', import.meta.url), 'utf8')

/** Returns the quick start's code blocks that are in `language` and match `pattern`. */
export function quickStartBlocks(language: string, pattern: RegExp): string[] {
  const blocks = [...text.matchAll(/^```(\w+)\n([^]*?)^```/gm)]
  return blocks.flatMap(([, name, block = '']) =>
    name === language && pattern.test(block) ? [block] : [],
  )
}

/** Replaces the quick start's URL and API key in a code block by the given ones. */
export const aimed = (block: string, { url, apiKey }: { url: string; apiKey: string }) =>
  block.replaceAll('http://127.0.0.1:3000', url).replaceAll('YOUR_API_KEY', apiKey)
