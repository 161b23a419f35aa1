import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { deployedArgs } from '../variants.ts'

t.test('gateway and worker run with the flags of their images', async (t) => {
  const root = createDataDir(t)
  mkdirSync(join(root, 'deploy'))
  const write = (text: string) => writeFileSync(join(root, 'deploy', 'Dockerfile'), text)
  write('CMD ["node", "check.mjs"]\nCMD ["node", "--expose-gc", "gateway/dist/main.js"]\nCMD []\n')
  t.same(deployedArgs(root, 'gateway'), ['--expose-gc', join(root, 'gateway/dist/main.js')])
  t.throws(() => deployedArgs(root, 'worker'), /Dockerfile does not run worker\/dist\/main\.js/)
})

t.test('the images of this tree run programs that the bench can start', async (t) => {
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  for (const part of ['gateway', 'worker'] as const) {
    t.equal(deployedArgs(root, part).at(-1), join(root, part, 'dist/main.js'))
  }
})
