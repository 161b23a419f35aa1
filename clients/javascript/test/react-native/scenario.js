// Runs in an engine that has only what Hermes has: no modules, no `crypto`, `URL`, `TextEncoder` or
// `AbortController`. `IntakeClient` is the bundle; `report` gets the results.
globalThis.runScenario = async function (report) {
  const values = new Map()
  // Of the app that was killed, no call of the storage ends.
  let isKilled = false
  const storageOf = (isFirst) => {
    const whileAlive = async (result) => (isFirst && isKilled ? new Promise(() => {}) : result())
    return {
      getItem: (key) => whileAlive(() => (values.has(key) ? values.get(key) : null)),
      setItem: (key, value) => whileAlive(() => void values.set(key, value)),
      removeItem: (key) => whileAlive(() => void values.delete(key)),
      getAllKeys: () => whileAlive(() => Array.from(values.keys())),
    }
  }
  const rows = new Map()
  let isReachable = true
  let losesAnswer = false
  const batches = []
  const forms = []
  globalThis.FormData = function () {
    this.parts = []
    this.append = (name, value) => this.parts.push([name, value])
  }
  const answer = (status, body) => ({
    status,
    text: async () => JSON.stringify(body),
    headers: { get: () => null },
  })
  globalThis.fetch = async (url, init) => {
    if (!isReachable) throw new TypeError('Network request failed')
    if (url.indexOf('/feedback') > 0) {
      forms.push(init.body.parts)
      return answer(201, { id: 'x' })
    }
    const batch = JSON.parse(init.body)
    batches.push(batch)
    const results = batch.logs.map((log) => {
      rows.set(log.id, log)
      return { status: 'accepted', id: log.id }
    })
    if (losesAnswer) {
      losesAnswer = false
      throw new TypeError('Network request failed')
    }
    return answer(207, { results })
  }
  const deviceInfo = {
    getBrand: () => 'Fairphone',
    getModel: () => 'FP4',
    getSystemVersion: () => '14',
    getBuildNumber: () => '12',
    getSecurityPatch: async () => 'unknown',
    getHardware: async () => 'qcom',
    getFirstInstallTime: async () => -1,
    getPowerState: async () => ({ batteryLevel: 0.814, batteryState: 'charging' }),
    isEmulator: async () => false,
    supportedAbis: async () => ['arm64-v8a'],
    getHost: async () => {
      throw new Error('no such method on this platform')
    },
  }
  const options = {
    url: 'https://intake.example.com',
    apiKey: 'ik_test',
    bundleIdentifier: 'com.example.app',
    retryMs: { min: 1, max: 5 },
    batchEntriesMax: 50,
    deviceInfo,
  }
  const first = IntakeClient.createIntake({ ...options, storage: storageOf(true) })
  isReachable = false
  for (let n = 0; n < 120; n++) first.log('tap', { n, text: 'ü😀' })
  const receipt = await first.feedback({
    text: 'It broke.',
    attachments: [{ uri: 'file:///shot.jpg' }],
  })
  await first.stored()
  const keys = Array.from(values.keys()).filter((key) => key.indexOf('.t') > 0).length
  // The app was killed. After its next start the app reaches the server, but one response is lost.
  isKilled = true
  isReachable = true
  losesAnswer = true
  const second = IntakeClient.createIntake({ ...options, storage: storageOf(false) })
  second.log('tap', { n: 120 })
  const { left } = await second.flush({ timeoutMs: 20000 })
  report({
    left,
    rows: rows.size,
    numbers: new Set(Array.from(rows.values()).map(({ params }) => params.n)).size,
    sequences: new Set(Array.from(rows.values()).map(({ sequence }) => sequence)).size,
    batches: batches.length,
    device: batches[0].device,
    devices: new Set(batches.map((batch) => batch.device_uuid)).size,
    feedback: JSON.parse(forms[0][0][1]),
    image: forms[0][1],
    isKept: receipt.isKept,
    keys,
    keysLeft: Array.from(values.keys()),
    text: Array.from(rows.values())[0].params.text,
  })
}
