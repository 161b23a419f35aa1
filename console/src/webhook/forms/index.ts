import type { WebhookReceiver } from '@intake/config'
import { alertNotice, standardAlert, type StoredAlert } from './alert.ts'
import type { StoredFeedback } from '../read-feedback.ts'
import { githubBody } from './github.ts'
import { noticeOf, type Notice } from './notice.ts'
import { slackBody } from './slack.ts'
import { standardBody } from './standard.ts'
import { teamsBody } from './teams.ts'

type Form = NonNullable<WebhookReceiver['form']>

/** The forms that people read; programs read the standard form. */
const chatForms: Readonly<Record<Exclude<Form, 'standard'>, (notice: Notice) => string>> = {
  slack: slackBody,
  teams: teamsBody,
  github: githubBody,
}

/**
 * Writes the body of a request about a feedback.
 *
 * @param options.email whether the body contains the e-mail; by default only in the standard form,
 * because programs read this form
 * @param options.pageUrl the address of the page, for a link
 */
export function writeFeedback(
  feedback: StoredFeedback,
  options: Pick<WebhookReceiver, 'form' | 'email'> & { pageUrl?: string | undefined },
): string {
  const { form = 'standard', pageUrl } = options
  const chatForm = form === 'standard' ? undefined : chatForms[form]
  const { email = chatForm === undefined ? 'show' : 'hide' } = options
  const shown = email === 'show' ? feedback : { ...feedback, email: null }
  return chatForm === undefined ? standardBody(shown) : chatForm(noticeOf(shown, pageUrl))
}

/**
 * Writes the body of a request about the change of an alert.
 *
 * @param options.isTest whether the message only shows that the receiver gets it
 */
export function writeAlert(
  alert: StoredAlert,
  options: Pick<WebhookReceiver, 'form'> & { pageUrl?: string | undefined; isTest: boolean },
): string {
  const { form = 'standard' } = options
  const chatForm = form === 'standard' ? undefined : chatForms[form]
  return chatForm === undefined
    ? standardAlert(alert, options)
    : chatForm(alertNotice(alert, options))
}
