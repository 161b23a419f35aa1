import t from 'tap'
import { calmState, startPage, view } from './fixture.ts'

t.test('the list of feedback and the status say why a console makes no thumbnails', async (t) => {
  const reason = 'sharp cannot be loaded'
  const [without, usual] = await Promise.all([
    startPage(t, { state: { ...calmState, noThumbnails: () => reason } }),
    startPage(t),
  ])
  for (const path of ['/feedback', '/status']) {
    const documentOf = async ({ url }: { url: string }) => {
      const { status, text } = await view(url, path)
      t.equal(status, 200)
      return text.replace(/\s+/g, ' ')
    }
    t.match(
      await documentOf(without),
      'This console makes no thumbnails: sharp cannot be loaded. Pictures of up to 4 MiB are shown themselves.',
    )
    t.notMatch(await documentOf(usual), 'thumbnails')
  }
})
