import type { ConsoleConfig } from '@intake/config'
import type { StoredFeedback } from '../read-feedback.ts'
import { githubBody } from './github.ts'
import { noticeOf, type Notice } from './notice.ts'
import { slackBody } from './slack.ts'
import { standardBody } from './standard.ts'
import { teamsBody } from './teams.ts'

export type WebhookForm = ConsoleConfig['FEEDBACK_WEBHOOK_FORM']

const chatForms: Readonly<Record<string, (notice: Notice) => string>> = {
  slack: slackBody,
  teams: teamsBody,
  github: githubBody,
}

/**
 * Creates the function that writes the body of a request about a feedback.
 *
 * @param options.showsEmail whether the body contains the e-mail; by default only in the standard
 * form, because programs read this form
 * @param options.pageUrl the address of the page, for a link
 */
export function createBodyWriter(options: {
  form: WebhookForm
  showsEmail?: boolean | undefined
  pageUrl?: string | undefined
}): (feedback: StoredFeedback) => string {
  const { form, pageUrl } = options
  const { [form]: chatForm } = chatForms
  const { showsEmail = chatForm === undefined } = options
  return (feedback) => {
    const shown = showsEmail ? feedback : { ...feedback, email: null }
    return chatForm === undefined ? standardBody(shown) : chatForm(noticeOf(shown, pageUrl))
  }
}
