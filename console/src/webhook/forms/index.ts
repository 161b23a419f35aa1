import type { WebhookReceiver } from '@intake/config'
import { alertNotice, standardAlert, type StoredAlert } from './alert.ts'
import type { StoredFeedback } from '../read-feedback.ts'
import { githubBody } from './github.ts'
import { noticeOf, type Notice } from './notice.ts'
import { slackBody } from './slack.ts'
import { teamsBody } from './teams.ts'

type Form = NonNullable<WebhookReceiver['form']>

/** The forms that people read; programs read the standard form. */
const chatForms: Readonly<Record<Form, ((notice: Notice) => string) | undefined>> = {
  standard: undefined,
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
  const chatForm = chatForms[form]
  const { email = chatForm === undefined ? 'show' : 'hide' } = options
  const shown = email === 'show' ? feedback : { ...feedback, email: null }
  return chatForm?.(noticeOf(shown, pageUrl)) ?? standardBody(shown)
}

/** Returns a body for programs, as Standard Webhooks specifies it, with the whole feedback. */
export function standardBody({ device, ...columns }: StoredFeedback): string {
  const data = JSON.stringify(columns)
  return `{"type":"feedback.created","timestamp":"${columns.time}","data":${data.slice(0, -1)},"device":${device}}}`
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
  return chatForms[form]?.(alertNotice(alert, options)) ?? standardAlert(alert, options)
}
