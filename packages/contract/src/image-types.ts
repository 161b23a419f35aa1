/** Media types and extensions of three or four letters, as `parseAttachmentKey` expects. */
export const imageTypes: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpg'],
  ['image/png', 'png'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['image/heic', 'heic'],
  ['image/heif', 'heif'],
  ['image/avif', 'avif'],
  ['image/bmp', 'bmp'],
  ['image/tiff', 'tiff'],
])
