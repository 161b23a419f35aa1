/** Transparent, with text and lines that are readable on light and dark pages. */
export function svgDocument(options: {
  width: number
  height: number
  title: string
  body: string[]
}): string {
  const { width, height, title, body } = options
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(title)}">
<style>
text { font: 12px system-ui, sans-serif; fill: #424a53 }
.title { font-weight: 600 }
.grid { stroke: #8c959f; stroke-opacity: 0.3 }
@media (prefers-color-scheme: dark) { text { fill: #c9d1d9 } }
</style>
${text({ x: 8, y: 18, content: title, className: 'title' })}
${body.join('\n')}
</svg>
`
}

/** Colours that differ in lightness too. */
export const colours = ['#3b76c4', '#c8553d', '#5a9e4b', '#d9a441', '#8b6bb1'] as const

export function text(options: {
  x: number
  y: number
  content: string
  anchor?: 'start' | 'middle' | 'end'
  className?: string
}): string {
  const { x, y, content, anchor = 'start', className } = options
  const named = className === undefined ? '' : ` class="${className}"`
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}"${named}>${escape(content)}</text>`
}

export function rectangle(options: {
  x: number
  y: number
  width: number
  height: number
  colour: string
}): string {
  const { x, y, width, height, colour } = options
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="${colour}"/>`
}

/** A grid line. */
export function line(options: {
  from: { x: number; y: number }
  to: { x: number; y: number }
}): string {
  const { from, to } = options
  return `<line x1="${round(from.x)}" y1="${round(from.y)}" x2="${round(to.x)}" y2="${round(to.y)}" class="grid"/>`
}

export function polyline(points: { x: number; y: number }[], colour: string): string {
  const list = points.map(({ x, y }) => `${round(x)},${round(y)}`).join(' ')
  return `<polyline points="${list}" fill="none" stroke="${colour}" stroke-width="2"/>`
}

/** Coloured squares with their names, in one row. */
export function legend(names: readonly string[], at: { x: number; y: number }): string[] {
  return names.flatMap((name, index) => {
    const x = at.x + index * 100
    const colour = colours[index % colours.length] as string
    return [
      rectangle({ x, y: at.y - 9, width: 10, height: 10, colour }),
      text({ x: x + 15, y: at.y, content: name }),
    ]
  })
}

/** The smallest of 1, 2, 5 times a power of ten that is not below the value. */
export function niceCeiling(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power
}

const round = (value: number) => Math.round(value * 10) / 10

const escape = (content: string) =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
