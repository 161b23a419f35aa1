import type { Notice } from './notice.ts'

/**
 * Returns a message with an adaptive card, for a webhook of a Teams workflow. Text blocks of cards
 * interpret Markdown, so texts of a client are put into text runs, which do not interpret it.
 */
export function teamsBody({ app, text, facts, link }: Notice): string {
  const block = (content: string, style: object = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: content, ...style }],
  })
  return JSON.stringify({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            block(app, { weight: 'Bolder' }),
            block(text),
            ...facts.map((fact) => block(fact, { isSubtle: true, size: 'Small' })),
          ],
          actions: link === undefined ? [] : [{ type: 'Action.OpenUrl', title: 'Open', url: link }],
        },
      },
    ],
  })
}
