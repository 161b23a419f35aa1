// What the three invented apps do, and what changes with their second release.

export type Params = Record<string, unknown>
export type Pick = <T>(from: readonly T[]) => T

export interface DemoApp {
  bundle: string
  colour: readonly [number, number, number]
  share: number
  /** Names of versions; the code of 2.4.0 is 240. */
  releases: readonly [string, string]
  /** The part of the period after which it sends nothing more; 1: it goes on to the end. */
  fallsSilentAt: number
  screens: readonly string[]
  /** What people do. `isNew` is true in the second release. */
  actions: readonly ((pick: Pick, isNew: boolean) => { event: string; params: Params })[]
  crashes: readonly [number, number]
  crash(isNew: boolean): Params
}

const amounts = [4.99, 9.99, 19.5, 34, 59.9]

export const demoBundles = 'com.example.demo.*'

export const demoApps: readonly DemoApp[] = [
  {
    // 2.5.0 brings a crash that 2.4.0 does not have.
    bundle: 'com.example.demo.shop',
    colour: [46, 92, 184],
    share: 0.5,
    releases: ['2.4.0', '2.5.0'],
    fallsSilentAt: 1,
    screens: ['home', 'search', 'product', 'cart', 'checkout'],
    actions: [
      (pick) => ({ event: 'search', params: { query: pick(['shoes', 'lamp', 'tea', 'desk']) } }),
      (pick) => ({ event: 'add_to_cart', params: { sku: pick(['A27', 'B02', 'C91']), qty: 1 } }),
      (pick) => ({ event: 'purchase', params: { amount: pick(amounts), currency: 'EUR' } }),
    ],
    crashes: [0.004, 0.06],
    crash: (isNew) =>
      isNew
        ? {
            reason: 'NullPointerException at Cart.total',
            stack: 'Cart.total(Cart.kt:88)\nCheckout.show(Checkout.kt:31)',
          }
        : { reason: 'OutOfMemoryError at Bitmap.create', stack: 'Bitmap.create(Bitmap.kt:12)' },
  },
  {
    // 1.9.0 sends a duration as text that 1.8.2 sends as a number.
    bundle: 'com.example.demo.fitness',
    colour: [30, 130, 76],
    share: 0.3,
    releases: ['1.8.2', '1.9.0'],
    fallsSilentAt: 1,
    screens: ['today', 'workout', 'history'],
    actions: [
      (pick, isNew) => {
        const seconds = pick([600, 1200, 1800, 2700])
        return {
          event: 'workout_finished',
          params: {
            kind: pick(['run', 'yoga', 'bike']),
            duration: isNew ? `${seconds} s` : seconds,
          },
        }
      },
      (pick) => ({ event: 'goal_set', params: { minutes: pick([20, 30, 45]) } }),
    ],
    crashes: [0.01, 0.01],
    crash: () => ({
      reason: 'IllegalStateException at Sensor.read',
      stack: 'Sensor.read(Sensor.kt:7)',
    }),
  },
  {
    // 4.0.0 sends e-mail addresses in a parameter, and then the app falls silent.
    bundle: 'com.example.demo.notes',
    colour: [150, 70, 140],
    share: 0.2,
    releases: ['3.7.1', '4.0.0'],
    fallsSilentAt: 0.7,
    screens: ['list', 'note', 'settings'],
    actions: [
      (pick) => ({ event: 'note_saved', params: { words: pick([12, 80, 340]) } }),
      (pick, isNew) => ({
        event: 'note_shared',
        params: isNew
          ? { to: pick(['ana@example.org', 'ben@example.net', 'chi@example.com']) }
          : { to: 'link' },
      }),
    ],
    crashes: [0.01, 0.015],
    crash: () => ({
      reason: 'SQLiteFullException at Store.write',
      stack: 'Store.write(Store.kt:51)',
    }),
  },
]

export const versionOf = (release: string) => ({
  version_name: release,
  version_code: Number(release.replaceAll('.', '')),
})

export const feedbackTexts = [
  'The new screen is lovely, thank you!',
  'Seit dem Update stürzt die App beim Bezahlen ab.',
  'Impossible de retrouver mes anciennes commandes.',
  'Me encanta, pero gasta mucha batería.',
  'O botão de salvar some em telas pequenas.',
  'ログイン後に画面が真っ白になります。',
  'التطبيق بطيء جدًا بعد التحديث الأخير',
  '登录后图片无法显示。',
  'Дуже зручно, але бракує темної теми.',
  'नया डिज़ाइन अच्छा है 👍',
]

export const phones = [
  { os: 'Android', device_brand: 'Google', device_model: 'Pixel 8', android_version: '15' },
  { os: 'Android', device_brand: 'Samsung', device_model: 'SM-S921B', android_version: '14' },
  { os: 'Android', device_brand: 'Xiaomi', device_model: 'M2101K6G', android_version: '12' },
  { os: 'iOS', device_brand: 'Apple', device_model: 'iPhone16,1', os_version: '18.1' },
  { os: 'iOS', device_brand: 'Apple', device_model: 'iPhone14,5', os_version: '17.6' },
] as const
