import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startGenerator, type Generator } from './load/generator.ts'
import type { Owner } from './owner.ts'
import { startServices, type Services } from './services.ts'
import { startVariant, type Variant, type VariantName } from './variants.ts'

export interface BenchOptions {
  /**
   * Whether this is only a trial of the bench, not a measurement. If so, suites with a fixed number
   * of events send fewer.
   */
  quick: boolean
  /**
   * Rounds per variant in a comparison that has a limit. Some suites measure a different number of
   * rounds.
   */
  rounds: number
  seconds: number
  warmUpSeconds: number
  /** Folder for CPU profiles of Intake's processes. */
  profileDir: string | undefined
}

/** Everything a suite needs: services, load generator, variants and options. */
export interface Bench {
  options: BenchOptions
  services: Services
  generator: Generator
  owner: Owner
  /** Starts a variant, which runs until it is stopped or the bench ends. */
  start(name: VariantName, options?: { workers?: number; node?: string }): Promise<Variant>
  say(sentence: string): void
}

export async function openBench(options: {
  dataDir: string
  owner: Owner
  options: BenchOptions
}): Promise<Bench> {
  if (process.platform !== 'linux') throw new Error('The bench reads /proc: it needs Linux.')
  const { dataDir, owner } = options
  const say = (sentence: string) => console.error(sentence)
  const generator = startGenerator(owner)
  const logs = join(dataDir, 'logs')
  mkdirSync(logs, { recursive: true })
  const { profileDir } = options.options
  const services = await startServices({ dataDir, owner })
  return {
    options: options.options,
    services,
    generator,
    owner,
    start: (name, own) =>
      startVariant(name, { services, owner, dataDir: logs, profileDir, ...own }),
    say,
  }
}
