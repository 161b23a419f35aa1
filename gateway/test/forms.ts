import { feedbackPayload, post, requireDocumented, secret, type TestGateway } from './support.ts'

export type Part = [
  name: string,
  value: string | Buffer,
  fileName?: string | undefined,
  type?: string,
]

interface Answer {
  message: string
  id: string
  code: string
  detail?: string
  errors: { pointer: string }[]
  attachments: object[]
  omitted_text_parts?: object
  invalid_fields?: object[]
}

/** Sends a form to `/api/feedback`. */
export async function send(
  { app }: TestGateway,
  parts: Part[],
  extraHeaders: Record<string, string> = {},
): Promise<{ status: number; body: Answer }> {
  const boundary = 'intake-test-boundary'
  const chunks = parts.flatMap(([name, value, fileName, type]) => [
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"`,
    fileName === undefined ? '' : `; filename="${fileName}"`,
    type === undefined ? '' : `\r\ncontent-type: ${type}`,
    '\r\n\r\n',
    value,
    '\r\n',
  ])
  const response = await app.inject({
    method: 'POST',
    url: '/api/feedback',
    headers: {
      'x-api-key': secret,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...extraHeaders,
    },
    payload: Buffer.concat([...chunks, `--${boundary}--\r\n`].map((chunk) => Buffer.from(chunk))),
  })
  requireDocumented('/api/feedback', response)
  return { status: response.statusCode, body: response.json() }
}

/** Sends a form as it is given. */
export const sendText = (
  gateway: Pick<TestGateway, 'app'>,
  body: string | Buffer,
  type = 'multipart/form-data; boundary=x',
) => post(gateway, '/api/feedback', body, { 'content-type': type })

/** A text part, as it is sent after a delimiter. */
export const textPart = (name: string, text: string) =>
  `content-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`

/** The payload as such a part. */
export const payloadPart = textPart('payload', JSON.stringify(feedbackPayload()))

export const payload = (feedback: object = {}, rest: object = {}): Part => [
  'payload',
  JSON.stringify(feedbackPayload(feedback, rest)),
]
export const file = (bytes: Buffer | string, name = 'a.png'): Part => [
  'attachments',
  bytes,
  name,
  'image/png',
]

export const lenient = { prefer: 'handling=lenient' }

/** The response to a form that is refused. */
export const refusal = (status: number, code: string, pointer?: string) => ({
  status,
  body: { code, ...(pointer !== undefined && { errors: [{ pointer }] }) },
})
