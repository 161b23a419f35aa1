import { Type } from 'typebox'

export const keepMetadata = Type.Boolean({
  default: false,
  description:
    '`true`: attachments are stored as they were sent, with the position, maker notes and comments in them. By ' +
    'default these are removed before an attachment is stored (docs/pictures.md). Set it for consoles too, so that ' +
    'the page says that metadata is kept.',
})
