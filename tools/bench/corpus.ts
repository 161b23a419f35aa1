import { createRandom } from '@intake/test-kit/random'
import { appVersions, locales, models, networks, screens, type Model } from './vocabulary.ts'

/** The body sizes to measure, in bytes. Real bodies differ from them by at most 10 %. */
export const bodySizes = [400, 1_300, 4_000, 16_000] as const
export type BodySize = (typeof bodySizes)[number]
export const defaultBodySize: BodySize = 1_300

/**
 * The number of distinct events. Repeated events would compress better than real ones. So this is
 * more than a frame holds (1,000), and far more than fit into gzip's window (32 KiB).
 */
const corpusEvents = 1_024

export interface LogBody {
  bundle_identifier: string
  device: Record<string, unknown>
  device_uuid: string
  unique_user_id: string
  log: { event: string; params: Record<string, unknown> }
}

/**
 * Distinct, realistic log events of about `size` bytes each. The same seed gives the same events.
 */
export function createCorpus(options: { size: BodySize; seed: number }): LogBody[] {
  const { size, seed } = options
  const random = createRandom(seed)
  return Array.from({ length: corpusEvents }, () => createEvent(random, size))
}

const bytesOf = (body: LogBody) => Buffer.byteLength(JSON.stringify(body))

function createEvent(random: () => number, size: BodySize): LogBody {
  const model = pick(random, models)
  const full = size > 400
  const body: LogBody = {
    bundle_identifier: pick(random, ['com.example.shop', 'com.example.courier', 'com.example.pay']),
    device: full ? fullDevice(random, model) : smallDevice(random, model),
    device_uuid: uuid(random),
    unique_user_id: `user-${integer(random, 1, 400_000)}`,
    log: { event: pick(random, eventNames), params: {} },
  }
  const { params } = body.log
  if (full) {
    Object.assign(params, {
      screen: pick(random, screens),
      session_id: uuid(random),
      duration_ms: integer(random, 3, 9_000),
      network: pick(random, networks),
    })
  }
  // Adds parameters until the size is reached. The parameters of `extras` come first. Breadcrumbs
  // follow; they are the largest part of a large event.
  const trail: unknown[] = []
  for (let next = 0; bytesOf(body) < size * 0.95; next++) {
    const extra = extras[next]
    if (extra !== undefined) Object.assign(params, extra(random))
    else params['trail'] = (trail.push(breadcrumb(random)), trail)
  }
  return body
}

const eventNames = [
  'screen_view',
  'button_tap',
  'purchase_completed',
  'search',
  'api_call_failed',
  'app_start',
  'app_background',
  'push_received',
  'video_progress',
  'permission_denied',
]

/** Parameters as applications log them, in the order in which they are added. */
const extras: ((random: () => number) => Record<string, unknown>)[] = [
  (random) => ({ screen: pick(random, screens), step: integer(random, 1, 12) }),
  (random) => ({ locale: pick(random, locales) }),
  (random) => ({ cart: { items: integer(random, 0, 9), total: integer(random, 0, 90_000) / 100 } }),
  (random) => ({ free_memory_mb: integer(random, 80, 3_000), low_power: random() < 0.2 }),
  (random) => ({ experiment: `exp_${integer(random, 10, 99)}`, arm: pick(random, ['a', 'b']) }),
  (random) => ({ request_id: uuid(random), http_status: pick(random, [200, 204, 404, 500]) }),
]

function breadcrumb(random: () => number): Record<string, unknown> {
  return {
    at_ms: integer(random, 10, 4_000_000),
    kind: pick(random, ['navigation', 'http', 'tap', 'lifecycle']),
    screen: pick(random, screens),
    target: `${pick(random, ['btn', 'row', 'tab', 'field'])}_${integer(random, 1, 60)}`,
    took_ms: integer(random, 1, 1_800),
  }
}

function smallDevice(random: () => number, model: Model): Record<string, unknown> {
  return {
    os: model.os,
    device_model: model.model,
    android_version: model.versions[0] ?? null,
    version_name: pick(random, appVersions),
  }
}

/** A device with every documented field, and with one that is not documented. */
function fullDevice(random: () => number, model: Model): Record<string, unknown> {
  const version = pick(random, model.versions)
  const incremental = `${model.build}.${integer(random, 1, 30)}`
  const app = pick(random, appVersions)
  return {
    os: model.os,
    device_brand: model.brand,
    device_model: model.model,
    android_version: version,
    battery_level: integer(random, 1, 100) / 100,
    battery_state: pick(random, ['charging', 'unplugged', 'full']),
    build_board: model.board,
    build_bootloader: `${model.board}-${integer(random, 1, 6)}.0`,
    build_fingerprint: `${model.brand}/${model.product}/${model.board}:${version}/${incremental}:user/release-keys`,
    build_hardware: model.board,
    build_host: `build-${integer(random, 1, 40)}`,
    build_security_patch: `2026-${two(integer(random, 1, 9))}-05`,
    build_tags: 'release-keys',
    build_time: `2026-0${integer(random, 1, 9)}-1${integer(random, 0, 9)}T08:30:00Z`,
    build_type: 'user',
    build_user: 'android-build',
    build_version_codename: 'REL',
    build_version_incremental: incremental,
    bundle_name: 'Example',
    device: model.board,
    first_install_time: moment(random, 2025),
    is_emulator: random() < 0.01,
    last_update_time: moment(random, 2026),
    manufacturer: model.brand,
    product: model.product,
    sdk_version: model.sdk,
    supported_abis: model.abis,
    version_code: Number(app.replaceAll('.', '')) * 10,
    version_name: app,
    carrier: pick(random, ['Carrier A', 'Carrier B', 'Carrier C', 'none']),
  }
}

const integer = (random: () => number, from: number, to: number) =>
  from + Math.floor(random() * (to - from + 1))

const pick = <T>(random: () => number, values: readonly T[]): T =>
  values[Math.floor(random() * values.length)] as T

const two = (value: number) => String(value).padStart(2, '0')

function moment(random: () => number, year: number): string {
  const start = Date.UTC(year, 0, 1)
  return new Date(start + Math.floor(random() * 300 * 86_400_000)).toISOString()
}

function uuid(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('')
  return [0, 8, 12, 16, 20].map((at, i) => hex.slice(at, [8, 12, 16, 20, 32][i])).join('-')
}
