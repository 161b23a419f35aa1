// process.test.ts runs this program. It does not close until a secret has a new value.
import { Type } from 'typebox'
import { runProcess } from '../dist/run-process.js'

await runProcess({
  name: 'test',
  config: Type.Object({ PASSWORD: Type.String({ writeOnly: true, isFollowed: true }) }),
  closeTimeoutMs: () => 120_000,
  async start({ log, secrets, owner }) {
    const secret = secrets.follow('PASSWORD')
    owner.add(() => new Promise((resolve) => secret.onChange(resolve)))
    log.info('up')
  },
})
