import { randomUUID } from 'node:crypto'
import { feedbackRow, logRow, uuidV7 } from '../../../packages/schema/test/fixture.ts'

const names = ['screen_view', 'screen_view', 'screen_view', 'product_view', 'search', 'add_to_cart']
const rare = ['purchase', 'payment_failed', 'crash']
const versions = [
  { version_name: '4.12.1', version_code: 41_201 },
  { version_name: '4.12.0', version_code: 41_200 },
  { version_name: '4.11.3', version_code: 41_103 },
]
const models = [
  { device_model: 'Pixel 8', os: 'Android' },
  { device_model: 'Galaxy S24', os: 'Android' },
  { device_model: 'iPhone 15', os: 'iOS' },
]
const texts = [
  'The checkout button does nothing after I change the address. I tried three times, then the app closed by itself.',
  'لا أستطيع تسجيل الدخول بعد التحديث الأخير. تظهر رسالة «خطأ غير معروف» في كل مرة.',
  'Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetzverordnung läuft aus dem Bildschirm.',
  '検索がとても速くなりました。ありがとうございます！',
]

/**
 * Creates ordinary records of the hours before `nowMs`, for screenshots and for measuring views.
 */
export function demoRecords(nowMs: number, { events, hours }: { events: number; hours: number }) {
  const devices = Array.from({ length: 40 }, () => randomUUID() as string)
  const pick = <Value>(list: readonly Value[], n: number) => list[n % list.length] as Value
  const headAt = (n: number, ms: number) => {
    const time = new Date(ms).toISOString()
    return {
      id: uuidV7(time),
      time,
      received_at: new Date(
        Math.min(nowMs, ms + (n % 40 === 0 ? 3 * 3_600_000 : 400)),
      ).toISOString(),
      bundle_identifier: n % 9 === 0 ? 'com.example.shop.courier' : 'com.example.shop',
      device_uuid: pick(devices, n * 7),
      unique_user_id: `user-${n % 40}`,
      country: pick(['DE', 'FR', 'JP'], n),
      device: { ...pick(models, n), ...pick(versions, Math.floor(n / 3)) },
    }
  }
  const logs = Array.from({ length: events }, (_, n) => {
    const ms = nowMs - Math.floor((n / events) ** 1.4 * hours * 3_600_000) - 1_000
    const event = n % 17 === 0 ? pick(rare, n / 17) : pick(names, n)
    return logRow({
      ...headAt(n, ms),
      event,
      params: {
        screen: pick(['home', 'cart', 'checkout'], n),
        ms: 80 + (n % 300),
        amount: n % 2 ? 12.5 : 9,
      },
    })
  })
  const feedback = Array.from({ length: 60 }, (_, n) =>
    feedbackRow({
      ...headAt(n, nowMs - n * 1_500_000 - 60_000),
      text: pick(texts, n),
      email: n % 2 === 0 ? `user${n}@example.com` : null,
    }),
  )
  const outcomes = Array.from({ length: hours * 60 }, (_, minute) => {
    const at = new Date(Math.floor(nowMs / 60_000 - minute) * 60_000).toISOString()
    const row = (api_key_id: string, kind: string, code: string, records: number) => ({
      minute: at,
      api_key_id,
      kind,
      code,
      run: '019abe10-f70d-797e-856d-48dc369b47fe',
      records,
    })
    const wave = 1 + Math.sin(minute / 200)
    return [
      row('key-1', 'logs', 'accepted', Math.round(800 * wave) + (minute % 60)),
      row('key-2', 'logs', 'accepted', Math.round(300 * wave)),
      ...(minute % 30 === 0 ? [row('key-1', 'feedback', 'accepted', 1)] : []),
      ...(minute < 180 ? [row('key-2', 'logs', 'bundle_not_allowed', 40 + (minute % 9))] : []),
      ...(minute % 7 === 0 ? [row('', 'logs', 'unauthorized', 2)] : []),
    ]
  }).flat()
  return { logs, feedback, outcomes }
}
