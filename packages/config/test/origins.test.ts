import t from 'tap'
import { loopbackOrigins, parseCorsOrigins } from '../src/origins.ts'

const has = (text: string, origin: string) => {
  const allowed = parseCorsOrigins(text)
  return typeof allowed === 'object' && allowed.has(origin)
}

t.test('a list has its origins, and with :* every port of a host', async (t) => {
  const list = 'https://app.example, HTTP://LocalHost:*, http://[::1]:*, capacitor://localhost'
  for (const origin of [
    'https://app.example',
    'http://localhost',
    'http://localhost:5173',
    'http://[::1]:8080',
    'capacitor://localhost',
  ]) {
    t.ok(has(list, origin), origin)
  }
  for (const origin of [
    'https://app.example:8443',
    'https://localhost:5173',
    'http://localhost.evil.example:5173',
    'http://localhost:5173:1',
    'http://[::2]:8080',
    'null',
    '',
  ]) {
    t.notOk(has(list, origin), origin)
  }
})

t.test('the origins of this machine are those of development servers', async (t) => {
  for (const origin of ['http://localhost:5173', 'http://127.0.0.1:80', 'https://localhost']) {
    t.ok(has(loopbackOrigins, origin), origin)
  }
  t.notOk(has(loopbackOrigins, 'http://192.168.1.5:5173'))
})

t.test('a port, a host or a scheme with * is refused', async (t) => {
  for (const wrong of [
    'http://localhost:8080:*',
    'http://*.example:*',
    'http://*:*',
    '*:*',
    '*://localhost',
    'http://localhost:*/',
    'http://[::1:*',
    'http://:*',
    'http://a.example,*',
    '*,http://a.example',
    '',
  ]) {
    t.throws(() => parseCorsOrigins(wrong), /http:\/\/localhost:\*/, wrong)
  }
})
