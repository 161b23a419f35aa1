import t from 'tap'
import { createFormTransport } from '../../src/react-native/form-transport.ts'
import { answerOf } from '../fake-intake.ts'

const created = answerOf(201, { id: 'x' })
const request = (images: unknown[]) => ({
  path: '/feedback',
  body: { payload: '{"feedback":{"id":"x"}}', attachments: images },
})

t.test('a form whose files are gone is sent without images after three attempts', async (t) => {
  const sent: number[] = []
  let leftOut = 0
  const transport = createFormTransport(
    async ({ body }) => {
      const count = (body as FormData).getAll('attachments').length
      sent.push(count)
      if (count > 0) throw new TypeError('Network request failed')
      return created
    },
    (count) => (leftOut += count),
  )
  for (const _ of [1, 2]) await t.rejects(transport(request(['a', 'b'])))
  t.equal((await transport(request(['a', 'b']))).status, 201)
  t.same(sent, [2, 2, 2, 0])
  t.equal(leftOut, 2)
})

t.test('without a network the images stay', async (t) => {
  let isOffline = true
  let leftOut = 0
  const sent: number[] = []
  const transport = createFormTransport(
    async ({ body }) => {
      if (isOffline) throw new TypeError('Network request failed')
      sent.push((body as FormData).getAll('attachments').length)
      return created
    },
    (count) => (leftOut += count),
  )
  for (let n = 0; n < 10; n++) await t.rejects(transport(request(['a'])))
  isOffline = false
  await transport(request(['a']))
  t.same(sent, [1])
  t.equal(leftOut, 0)
})
