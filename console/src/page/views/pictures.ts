import { imageTypes } from '@intake/contract'
import { html, type Html } from '../html.ts'
import type { Attachment } from '../records.ts'
import type { Header } from '../worker-state.ts'
import { helpLink } from './links.ts'

/** How pictures are shown; undefined if there is no object store. */
export type SignPicture =
  | {
      /** The path under which a picture can be opened for some minutes. */
      path(key: string): string
      /** Whether pictures are stored with their metadata. */
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

/**
 * The maximum size of an original that a list shows for lack of a thumbnail. The list shows it only
 * if no worker has examined it yet, or if its format has no thumbnails. It does not show a picture
 * that a worker could not decode, because a browser may need too much memory or time for it.
 */
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
    if (sign === undefined) return html`<li>${label}</li>`
    const { key, content_type: type, thumbnail_key: thumbnail } = attachment
    const original = shownTypes.has(type) && (whole || isLight(attachment)) ? key : undefined
    const shown = whole ? (original ?? thumbnail) : (thumbnail ?? original)
    const content =
      shown === undefined || shown === null
        ? label
        : html`<img
            src="${sign.path(shown)}"
            alt="${label}"
            loading="lazy"
            height="${shownHeight}"
            ${widthOf(attachment)}
          />`
    return html`<li><a href="${attachmentPath(key)}">${content}</a></li>`
  })
  const note = 'Pictures are kept as they were sent, with metadata such as their position.'
  return html`<ul class="pics">
      ${items}
    </ul>
    ${whole ? large : undefined}${sign?.keepsMetadata ? html`<p class="facts">${note}</p>` : undefined}`
}

/** Where the script of the page shows one of the whole pictures large. Escape closes it. */
const large = html`<dialog id="large" aria-label="Picture"><img alt="" /><output></output></dialog>`

/** Says that lists show the pictures themselves, and why the worker makes no thumbnails. */
export function withoutThumbnails({ noThumbnails: reason }: Header): Html | undefined {
  return reason === undefined
    ? undefined
    : html`<p class="facts">
        This console makes no thumbnails: ${reason}. Pictures of up to 4 MiB are shown themselves.
        ${helpLink('docs/operations/thumbnails-late.md')}
      </p>`
}

const shownHeight = 160

function describe({ content_type: type, bytes, width, height }: Attachment): string {
  const size = width === null || height === null ? '' : `${width} × ${height}, `
  return `${imageTypes.get(type) ?? 'unknown'}, ${size}${Math.ceil(bytes / 1024)} KB`
}

/**
 * The width at which a picture is shown. With it, the list does not move when the picture is
 * loaded. Undefined if there is no thumbnail, because `width` and `height` may then be those of the
 * picture before it is turned upright.
 */
function widthOf({ width, height, thumbnail_key: thumbnail }: Attachment): Html | undefined {
  if (thumbnail === null || width === null || height === null) return undefined
  return html` width="${Math.max(1, Math.round((shownHeight * width) / height))}"`
}

/** The permanent path of a picture, for readers who may see the page. */
function attachmentPath(key: string): string {
  return `/attachments/${key.split('/').map(encodeURIComponent).join('/')}`
}
