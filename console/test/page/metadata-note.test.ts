import t from 'tap'
import { pictures } from '../../src/page/views/pictures.ts'

t.test('the page says so when pictures are kept with their metadata', async (t) => {
  const picture = {
    key: 'feedback/x.png',
    content_type: 'image/png',
    bytes: 9,
    sha256: '00',
    width: null,
    height: null,
    thumbnail_key: null,
    error: null,
  }
  const shown = (keepsMetadata: boolean) =>
    String(pictures([picture], { path: (key) => `/signed/${key}`, keepsMetadata }))
  t.match(shown(true), /kept as they were sent, with metadata/)
  t.notMatch(shown(false), /metadata/)
  t.match(shown(false), /src="\/signed\/feedback\/x\.png"/)
})
