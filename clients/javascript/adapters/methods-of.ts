import type { Intake } from '../src/core/options.ts'

/** The calls that a client takes as they are. */
export const methodsOf = (client: () => Intake<never>) => ({
  async log(event: string, params: Record<string, unknown>) {
    const id = client().log(event, params)
    await client().stored()
    return { id }
  },
  async logs(from: number, count: number, event: string) {
    for (let n = from; n < from + count; n++) client().log(event, { n })
    await client().stored()
    return { stored: count }
  },
  flush: (timeoutMs: number) => client().flush({ timeoutMs }),
  stats: () => client().stats(),
  optOut: () => client().optOut(),
  optIn: () => client().optIn(),
})
