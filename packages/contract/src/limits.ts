/** What a single request may carry. Bytes are bytes on the wire, lengths are UTF-16 code units. */
export const limits = {
  logBodyBytes: 1024 * 1024,
  batchEntries: 500,
  batchBodyBytes: 4 * 1024 * 1024,
  /** After decompression. */
  batchJsonBytes: 16 * 1024 * 1024,
  payloadBytes: 1024 * 1024,
  feedbackTextLength: 20_000,
  identifierLength: 255,
  emailLength: 254,
  attachments: 4,
  attachmentBytes: 10 * 1024 * 1024,
  jsonDepth: 32,
  supportedAbis: 64,
} as const
