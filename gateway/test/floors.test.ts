import t from 'tap'
import { checkFloors } from '@intake/test-kit/floors'

t.test('no file imports from a higher floor', async (t) => {
  checkFloors(t, {
    source: new URL('../src', import.meta.url),
    floors: [
      'main.ts',
      'index.ts',
      'compose.ts',
      'app.ts',
      'routes',
      'accept',
      'errors',
      'report',
      'commit',
      'form',
      'identity',
      'body',
      'record',
      'ports.ts',
      'admission',
      'request.ts',
    ],
    importsMin: 100,
  })
})
