import { imageTypes } from '@intake/contract'
import { html, type Html } from '../html.ts'
import type { Attachment } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { helpLink } from './links.ts'
import { list, mute } from './parts.ts'

/** Undefined if there is no object store. */
export type SignPicture =
  | {
      /** The path is valid for some minutes. */
      path(key: string): string
      keepsMetadata: boolean
    }
  | undefined

/** The image types that browsers show; images of other types are offered for download. */
export const shownTypes: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
])

/** Up to this size a list shows an original for lack of a thumbnail, if it could be decoded. */
const listedBytesMax = 4 * 1024 * 1024
const isLight = ({ bytes, error }: Attachment) =>
  bytes <= listedBytesMax && (error === null || error === 'format')

/** @param options.whole whether to show originals, not thumbnails, if browsers can show them */
export function pictures(
  attachments: readonly Attachment[],
  sign: SignPicture,
  { whole = false } = {},
): Html | undefined {
  if (attachments.length === 0) return undefined
  const items = attachments.map((attachment, index) => {
    const label = `Picture ${index + 1}: ${describe(attachment)}`
    if (sign === undefined) return label
    const { key, content_type: type, thumbnail_key: thumbnail } = attachment
    const original = shownTypes.has(type) && (whole || isLight(attachment)) ? key : undefined
    const shown = whole ? (original ?? thumbnail) : (thumbnail ?? original)
    const content = shown
      ? html`<img
          src="${sign.path(shown)}"
          alt="${label}"
          loading="lazy"
          height="${shownHeight}"
          ${widthOf(attachment)}
        />`
      : label
    const path = key.split('/').map(encodeURIComponent).join('/')
    return html`<a href="/attachments/${path}">${content}</a>`
  })
  const note = 'Pictures are kept as they were sent, with metadata such as their position.'
  return html`${list(items, 'pics')} ${whole && large}${sign?.keepsMetadata && mute(note)}`
}

/** Where the script of the page shows one of the whole pictures large. Escape closes it. */
const large = html`<dialog id="large" aria-label="Picture"><img alt="" /><output></output></dialog>`

export function withoutThumbnails({ noThumbnails: reason }: Header): Html | undefined {
  return mute(
    reason !== undefined &&
      html`This console makes no thumbnails: ${reason}. Pictures of up to 4 MiB are shown
      themselves. ${helpLink('docs/operations/thumbnails-late.md')}`,
  )
}

const shownHeight = 160

function describe({ content_type: type, bytes, width, height }: Attachment): string {
  const size = width === null || height === null ? '' : `${width} × ${height}, `
  return `${imageTypes.get(type) ?? 'unknown'}, ${size}${Math.ceil(bytes / 1024)} KB`
}

/** The width keeps the list from moving. Without a thumbnail the picture may be turned. */
function widthOf({ width, height, thumbnail_key: thumbnail }: Attachment): Html | undefined {
  if (thumbnail === null || width === null || height === null) return undefined
  return html` width="${Math.max(1, Math.round((shownHeight * width) / height))}"`
}
