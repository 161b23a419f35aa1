import { Type } from 'typebox'

export const keepMetadata = Type.Boolean({
  default: false,
  description:
    '`true`: attachments are stored as they were sent, with positions and comments (docs/pictures.md). Set it for consoles too.',
})
