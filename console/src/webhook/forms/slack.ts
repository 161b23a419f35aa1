import { cut, type Notice } from './notice.ts'

/** The limits of Slack, which refuses the whole message if one is exceeded. */
const limits = { section: 3_000, header: 150, url: 3_000 }

/**
 * Returns a message for an incoming webhook of Slack. Texts of a client are sent as plain text, so
 * they can neither mention people nor look like a link. A block without a visible character is left
 * out, because Slack refuses it, too.
 */
export function slackBody({ app, text, facts, link }: Notice): string {
  const plain = (content: string) => ({ type: 'plain_text', text: content, emoji: false })
  const block = (type: 'header' | 'section', content: string) =>
    isBlank.test(content) ? [] : [{ type, text: plain(fit(content, limits[type])) }]
  const hasLink = link !== undefined && link.length <= limits.url
  const button = { type: 'button', text: plain('Open'), url: link }
  const shown = facts.filter((fact) => !isBlank.test(fact))
  return JSON.stringify({
    // Notifications show this text. Slack would interpret mentions and links in it, so the special
    // characters are escaped.
    text: escape(`${app}: ${text.slice(0, 200).toWellFormed()}`),
    blocks: [
      ...block('header', app),
      ...block('section', text),
      ...(shown.length > 0 ? [{ type: 'context', elements: shown.map(plain) }] : []),
      ...(hasLink ? [{ type: 'actions', elements: [button] }] : []),
    ],
  })
}

/** Spaces, line ends, and the characters that join or vary others. */
const isBlank = /^(?:\s|\u200c|\u200d|\ufe0e|\ufe0f)*$/

/**
 * Keeps a text within a limit, whether Slack counts UTF-16 units before or after it has replaced
 * `&`, `<` and `>` by entities, which are five units at most.
 */
const fit = (text: string, lengthMax: number): string =>
  escape(text).length <= lengthMax ? text : cut(text, lengthMax / 6)

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escape = (text: string) => text.replaceAll(/[&<>]/g, (character) => entities[character] ?? '')
