/** A device model with the values that its operating system reports. */
export interface Model {
  os: string
  brand: string
  model: string
  product: string
  board: string
  build: string
  /** Versions of the operating system that are in use. */
  versions: string[]
  sdk: number
  abis: string[]
}

const arm = ['arm64-v8a', 'armeabi-v7a', 'armeabi']
const android = (
  brand: string,
  model: string,
  product: string,
  board: string,
  build: string,
  newest: number,
): Model => ({
  os: 'Android',
  brand,
  model,
  product,
  board,
  build,
  versions: [String(newest), String(newest - 1)],
  sdk: newest + 21,
  abis: newest > 13 ? arm.slice(0, 1) : arm,
})

export const models: readonly Model[] = [
  android('google', 'Pixel 6a', 'bluejay', 'bluejay', 'AP3A.241105.007', 15),
  android('google', 'Pixel 7', 'panther', 'panther', 'AP4A.250105.002', 15),
  android('google', 'Pixel 8', 'shiba', 'shiba', 'BP1A.250305.019', 16),
  android('google', 'Pixel 9 Pro', 'caiman', 'caiman', 'BP2A.250605.031', 16),
  android('samsung', 'SM-G991B', 'o1sxeea', 'exynos2100', 'TP1A.220624.014', 14),
  android('samsung', 'SM-S911B', 'dm1qxeea', 'kalama', 'UP1A.231005.007', 15),
  android('samsung', 'SM-A546B', 'a54xnaeea', 's5e8835', 'UP1A.231005.007', 15),
  android('samsung', 'SM-S928B', 'e3qxeea', 'pineapple', 'AP3A.240905.015', 15),
  android('samsung', 'SM-A146P', 'a14xmnsxx', 'mt6833', 'TP1A.220624.014', 14),
  android('Xiaomi', '2201117TG', 'spes_global', 'bengal', 'TKQ1.221114.001', 13),
  android('Xiaomi', '23013RK75C', 'mondrian', 'taro', 'UKQ1.230804.001', 14),
  android('Xiaomi', '2312DRA50G', 'garnet_global', 'parrot', 'UKQ1.231003.002', 15),
  android('OnePlus', 'CPH2449', 'CPH2449EEA', 'kalama', 'TP1A.220905.001', 15),
  android('OnePlus', 'IN2013', 'OnePlus8_EEA', 'kona', 'RKQ1.211119.001', 13),
  android('OPPO', 'CPH2371', 'CPH2371', 'k6893v1_64', 'SP1A.210812.016', 13),
  android('vivo', 'V2250', 'V2250_EEA', 'k6983v1_64', 'TP1A.220624.014', 14),
  android('motorola', 'moto g84 5G', 'bangkk_ge', 'bangkk', 'U1TCS34.22', 14),
  android('motorola', 'motorola edge 40', 'rtwo_gee', 'rtwo', 'T1TRS33.79', 14),
  android('HUAWEI', 'ELS-NX9', 'ELS-NX9', 'kirin990', 'HUAWEIELS-NX9', 12),
  android('realme', 'RMX3370', 'RMX3370EEA', 'kona', 'RKQ1.211119.001', 13),
  android('Sony', 'XQ-DC54', 'XQ-DC54_EEA', 'kalama', '67.1.A.2.112', 14),
  android('Nothing', 'A065', 'Pong', 'taro', 'UKQ1.230924.001', 15),
  android('Fairphone', 'FP5', 'FP5', 'qcm6490', 'UKQ1.231222.001', 14),
  android('TCL', 'T610K', 'Jetta_EEA', 'mt6765', 'TP1A.220624.014', 13),
]

export const appVersions = ['4.18.2', '4.19.0', '4.19.1', '4.20.0', '4.20.3', '5.00.0'] as const
export const networks = ['wifi', '5g', '4g', '3g', 'offline'] as const
export const locales = ['en_GB', 'de_DE', 'fr_FR', 'es_ES', 'pl_PL', 'it_IT', 'tr_TR'] as const
export const screens = [
  'home',
  'search_results',
  'product_detail',
  'cart',
  'checkout_address',
  'checkout_payment',
  'order_history',
  'profile',
  'settings_notifications',
  'onboarding_permissions',
  'support_chat',
  'map_overview',
] as const
