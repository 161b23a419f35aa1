// Run by process.test.ts: its close waits for a new value of a secret.
import { Type } from 'typebox'
import { runProcess } from '../src/process.ts'

await runProcess({
  name: 'test',
  config: Type.Object({ PASSWORD: Type.String({ writeOnly: true, isFollowed: true }) }),
  closeTimeoutMs: () => 120_000,
  async start(_config, log, secrets, owner) {
    const secret = secrets.follow('PASSWORD')
    owner.add(() => new Promise<void>((resolve) => secret.onChange(resolve)))
    log.info('up')
  },
})
