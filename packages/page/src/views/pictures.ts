import { imageTypes } from '@intake/contract'
import { html, type Html } from '../html.ts'
import type { Attachment } from '../records.ts'

/** How pictures are shown; undefined if there is no object store. */
export type SignPicture =
  | {
      /** The path under which a picture can be opened for some minutes. */
      path(key: string): string
      /** Whether pictures are stored with their metadata. */
      keepsMetadata: boolean
    }
  | undefined

/** The types that browsers show; other types are offered for download. */
export const shownTypes: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
])

export function pictures(attachments: readonly Attachment[], sign: SignPicture): Html | undefined {
  if (attachments.length === 0) return undefined
  const items = attachments.map((attachment, index) => {
    const { key, content_type: type, bytes } = attachment
    const label = `Picture ${index + 1}: ${imageTypes.get(type) ?? 'unknown'}, ${Math.ceil(bytes / 1024)} KB`
    if (sign === undefined) return html`<li>${label}</li>`
    const content = shownTypes.has(type)
      ? html`<img src="${sign.path(key)}" alt="${label}" loading="lazy" height="160" />`
      : label
    return html`<li><a href="${attachmentPath(key)}">${content}</a></li>`
  })
  const note = 'Pictures are kept as they were sent, with metadata such as their position.'
  return html`<ul class="pics">
      ${items}
    </ul>
    ${sign?.keepsMetadata ? html`<p class="facts">${note}</p>` : undefined}`
}

/** The permanent path of a picture, for those who may see the page. */
function attachmentPath(key: string): string {
  return `/attachments/${key.split('/').map(encodeURIComponent).join('/')}`
}
