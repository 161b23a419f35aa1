// What the three invented apps do, and what changes with their second release.

/** Events that people cause. Each param is one of its values. */
type Actions = Readonly<Record<string, Readonly<Record<string, readonly (string | number)[]>>>>

interface Release {
  version: string
  crash: string
  /** The part of its sessions that end with the crash. */
  crashes: number
}

export interface DemoApp {
  bundle: string
  colour: readonly [number, number, number]
  share: number
  releases: readonly [Release, Release]
  /** The part of the period after which it sends nothing more; 1: it goes on to the end. */
  fallsSilentAt: number
  screens: readonly string[]
  actions: Actions
  /** Those that the second release does in another way. */
  newActions?: Actions
}

export const demoBundles = 'com.example.demo.*'

/** The reason of each crash, then its frames. */
const crashes = {
  bitmap: 'OutOfMemoryError at Bitmap.create\nBitmap.create(Bitmap.kt:12)',
  cart: 'NullPointerException at Cart.total\nCart.total(Cart.kt:88)\nCheckout.show(Checkout.kt:31)',
  sensor: 'IllegalStateException at Sensor.read\nSensor.read(Sensor.kt:7)',
  store: 'SQLiteFullException at Store.write\nStore.write(Store.kt:51)',
}
const kind = ['run', 'yoga', 'bike']

export const demoApps: readonly DemoApp[] = [
  {
    // 2.5.0 brings a crash that 2.4.0 does not have.
    bundle: 'com.example.demo.shop',
    colour: [46, 92, 184],
    share: 0.5,
    releases: [
      { version: '2.4.0', crash: crashes.bitmap, crashes: 0.004 },
      { version: '2.5.0', crash: crashes.cart, crashes: 0.06 },
    ],
    fallsSilentAt: 1,
    screens: ['home', 'search', 'product', 'cart', 'checkout'],
    actions: {
      search: { query: ['shoes', 'lamp', 'tea', 'desk'] },
      add_to_cart: { sku: ['A27', 'B02', 'C91'], qty: [1] },
      purchase: { amount: [4.99, 9.99, 19.5, 34, 59.9], currency: ['EUR'] },
    },
  },
  {
    // 1.9.0 sends a duration as text that 1.8.2 sends as a number.
    bundle: 'com.example.demo.fitness',
    colour: [30, 130, 76],
    share: 0.3,
    releases: [
      { version: '1.8.2', crash: crashes.sensor, crashes: 0.01 },
      { version: '1.9.0', crash: crashes.sensor, crashes: 0.01 },
    ],
    fallsSilentAt: 1,
    screens: ['today', 'workout', 'history'],
    actions: {
      workout_finished: { kind, duration: [600, 1200, 1800, 2700] },
      goal_set: { minutes: [20, 30, 45] },
    },
    newActions: { workout_finished: { kind, duration: ['600 s', '1200 s', '1800 s', '2700 s'] } },
  },
  {
    // 4.0.0 sends e-mail addresses in a parameter, and then the app falls silent.
    bundle: 'com.example.demo.notes',
    colour: [150, 70, 140],
    share: 0.2,
    releases: [
      { version: '3.7.1', crash: crashes.store, crashes: 0.01 },
      { version: '4.0.0', crash: crashes.store, crashes: 0.015 },
    ],
    fallsSilentAt: 0.7,
    screens: ['list', 'note', 'settings'],
    actions: { note_saved: { words: [12, 80, 340] }, note_shared: { to: ['link'] } },
    newActions: { note_shared: { to: ['ana@example.org', 'ben@example.net', 'chi@example.com'] } },
  },
]

/** The code of 2.4.0 is 240. */
export const versionOf = ({ version }: Release) => ({
  version_name: version,
  version_code: Number(version.replaceAll('.', '')),
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
