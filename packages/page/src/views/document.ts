import { html, type Html, type HtmlValue } from '../html.ts'

const views = [
  ['/', 'Feedback'],
  ['/events', 'Events'],
  ['/dead-letters', 'Dead letters'],
  ['/overview', 'Overview'],
] as const

/** The frame around every view. */
export function document(options: { title: string; body: HtmlValue }): Html {
  const { title, body } = options
  const links = views.map(([path, name]) =>
    name === title
      ? html`<a href="${path}" aria-current="page">${name}</a> `
      : html`<a href="${path}">${name}</a> `,
  )
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Intake</title>
        <link rel="stylesheet" href="/page.css" />
        <link rel="icon" href="/icon.svg" type="image/svg+xml" />
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <nav aria-label="Views">${links}</nav>
          <form action="/find" role="search">
            <label for="id">Id or request id</label>
            <input id="id" name="id" size="36" autocomplete="off" spellcheck="false" required />
            <button>Find</button>
          </form>
        </header>
        <main id="main">
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html> `
}
