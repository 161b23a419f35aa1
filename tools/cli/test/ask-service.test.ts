import t from 'tap'
import { resolveToLoopback } from '@intake/test-kit/resolve-to-loopback'
import { serve } from '@intake/test-kit/serve'
import { askService } from '../src/status/service-status.ts'

t.test(
  'a host with several addresses, none of which listens, is named with its code',
  async (t) => {
    // Nothing listens on this port of the two addresses, because it is taken only on 127.0.0.1.
    const { port } = await serve(t, () => {})
    resolveToLoopback(t, ['127.0.0.2', '127.0.0.3'])
    const url = `http://worker.test:${port}`
    t.match(await askService({ service: 'worker', url }), {
      problems: [{ detail: `no status of the worker at ${url}: ECONNREFUSED` }],
    })
  },
)
