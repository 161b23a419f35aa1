import type { Notice } from './notice.ts'

/**
 * Returns a message for an incoming webhook of Slack. Texts of a client are sent as plain text, so
 * they can neither mention people nor look like a link.
 */
export function slackBody({ app, text, facts, link }: Notice): string {
  const plain = (content: string) => ({ type: 'plain_text', text: content, emoji: false })
  return JSON.stringify({
    // Notifications show this text. Slack would interpret mentions and links in it, so the special
    // characters are escaped.
    text: escape(`${app}: ${text.slice(0, 200).toWellFormed()}`),
    blocks: [
      { type: 'header', text: plain(app.slice(0, 150).toWellFormed()) },
      { type: 'section', text: plain(text) },
      ...(facts.length > 0 ? [{ type: 'context', elements: facts.map(plain) }] : []),
      ...(link === undefined
        ? []
        : [
            {
              type: 'actions',
              elements: [{ type: 'button', text: plain('Open'), url: link }],
            },
          ]),
    ],
  })
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escape = (text: string) => text.replaceAll(/[&<>]/g, (character) => entities[character] ?? '')
