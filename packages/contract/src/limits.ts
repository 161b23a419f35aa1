/** The limits of the interface itself. Lengths are UTF-16 code units. */
export const limits = {
  payloadBytes: 1024 * 1024,
  feedbackTextLength: 20_000,
  identifierLength: 255,
  emailLength: 254,
  batchEntries: 500,
  attachments: 4,
  jsonDepth: 32,
  supportedAbis: 64,
} as const
