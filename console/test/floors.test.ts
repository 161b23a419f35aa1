import t from 'tap'
import { checkFloors } from '@intake/test-kit/floors'

t.test('no file imports from a higher floor', async (t) => {
  checkFloors(t, {
    source: new URL('../src', import.meta.url),
    floors: [
      'main.ts',
      'compose.ts',
      'admin',
      'alerts',
      'webhook',
      'thumbnails',
      'counts.ts',
      'watch',
      'page',
      'cached.ts',
    ],
    importsMin: 100,
  })
})
