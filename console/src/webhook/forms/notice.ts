import { parseLossless } from '@intake/json'
import { quantity, visibleLine, visibleText } from '@intake/runtime'
import { exactPath } from '../../page/views/links.ts'
import type { StoredFeedback } from '../read-feedback.ts'

/**
 * The texts about a feedback, for people. A client's invisible characters are shown by their codes.
 */
export interface Notice {
  app: string
  text: string
  /**
   * Up to four lines: the device, its system, the number of pictures, and the e-mail. A line is
   * left out if there is nothing to show, such as the e-mail if the webhook must not show it.
   */
  facts: string[]
  /** The page of the record; undefined if the address of the page is not known. */
  link: string | undefined
  label: 'feedback' | 'alert'
}

/** The maximum length of the text. Chats cut or refuse longer texts. */
const textLengthMax = 2_000
const lineLengthMax = 200

/**
 * Returns the texts about a feedback.
 *
 * @param pageUrl the address of the page; if undefined, there is no link
 */
export function noticeOf(feedback: StoredFeedback, pageUrl: string | undefined): Notice {
  const { bundle_identifier: bundle, email, attachments } = feedback
  const device = parseLossless(feedback.device) as Record<string, unknown>
  const { version_name: version, version_code: code } = device
  const { device_brand: brand, device_model: model, os, android_version: system } = device
  const pictures = attachments.length
  return {
    app: line([bundle, version, code == null ? undefined : `(${code as number | bigint})`]),
    text: cut(visibleText(feedback.text)),
    facts: [
      line([brand, model]),
      line([os, system]),
      pictures === 0 ? '' : quantity(pictures, 'picture'),
      line([email]),
    ].filter((fact) => fact.trim() !== ''),
    link: onPage(pageUrl, exactPath('feedback', feedback)),
    label: 'feedback',
  }
}

/** The address of a path of the page. */
export const onPage = (pageUrl: string | undefined, path: string): string | undefined =>
  pageUrl && `${pageUrl.replace(/\/$/, '')}${path}`

/** Joins parts to one line; absent ones are left out. */
export const line = (parts: readonly unknown[]) =>
  cut(
    parts
      .filter((part) => part != null && part !== '')
      .map((part) => visibleLine(String(part as string | number)))
      .join(' '),
    lineLengthMax,
  )

/** Cuts a text after `lengthMax` code points, so that no surrogate pair is cut in half. */
export function cut(text: string, lengthMax = textLengthMax): string {
  const characters = Array.from(text)
  return characters.length <= lengthMax ? text : `${characters.slice(0, lengthMax).join('')}…`
}
