import t from 'tap'
import type { NodeAttachment } from '../../src/node/index.ts'
import { startDevice } from './http-intake.ts'

const bytes = Buffer.from('image')
const arrayBuffer = new Uint8Array(bytes).buffer

const images: Record<string, NodeAttachment> = {
  Buffer: bytes,
  Uint8Array: new Uint8Array(bytes),
  ArrayBuffer: arrayBuffer,
  DataView: new DataView(arrayBuffer),
  Blob: new Blob([bytes]),
  File: new File([bytes], 'a.png', { type: 'image/png' }),
  'data of a Blob': { data: new Blob([bytes]) },
  'data of an ArrayBuffer': { data: arrayBuffer, name: undefined, type: undefined },
}

t.test('every form of bytes that Node has is an image', async (t) => {
  const { server, create } = await startDevice(t)
  const client = create({ storage: 'memory' })
  for (const [text, image] of Object.entries(images))
    await client.feedback({ text, attachments: [image] })
  await client.feedback({ text: 'no list', attachments: bytes as never })
  await client.flush()
  for (const { payload, attachments } of server.feedback) {
    const { text } = JSON.parse(payload).feedback
    t.match(attachments, [{ text: 'image' }], text)
    if (text === 'File') t.match(attachments, [{ name: 'a.png', type: 'image/png' }])
  }
  t.equal(server.feedback.length, Object.keys(images).length + 1)
  t.same(client.stats().dropped, {})
  for (const wrong of ['/tmp/a.png', null, 1000, { uri: 'file:///a.png' }, { data: 'aW1n' }])
    await client.feedback({ text: 'text', attachments: [wrong as never] })
  await client.flush()
  t.same(client.stats().dropped, { invalid_attachment: 5 })
  t.same(server.feedback.at(-1)!.attachments, [])
})

t.test('an image is copied when feedback is called', async (t) => {
  const { server, create } = await startDevice(t)
  const client = create({ storage: 'memory' })
  const image = Buffer.from('image')
  const kept = client.feedback({ text: 'text', attachments: [image] })
  image.fill(0)
  await kept
  await client.flush()
  t.match(server.feedback, [{ attachments: [{ text: 'image' }] }])
})
