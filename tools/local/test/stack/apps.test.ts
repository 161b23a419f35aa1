import { readFileSync } from 'node:fs'
import t from 'tap'
import { nodeOptions } from '../../src/stack/apps.ts'

t.test('npm start runs gateway and worker with the options of Node of their images', async (t) => {
  const dockerfile = readFileSync(new URL('../../../../deploy/Dockerfile', import.meta.url), 'utf8')
  for (const [app, options] of Object.entries(nodeOptions)) {
    const command = JSON.stringify(['node', ...options, `${app}/dist/main.js`]).replaceAll(
      ',',
      ', ',
    )
    t.ok(dockerfile.includes(`CMD ${command}`), `CMD ${command}`)
  }
})
