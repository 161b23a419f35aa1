import { html, type Html, type HtmlValue } from '../html.ts'

/** The frame around every view. */
export function document(options: { title: string; body: HtmlValue }): Html {
  const { title, body } = options
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
          <nav aria-label="Views">
            <a href="/">Feedback</a>
            <a href="/events">Events</a>
            <a href="/dead-letters">Dead letters</a>
            <a href="/status">Status</a>
          </nav>
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
