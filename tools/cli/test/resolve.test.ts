import t from 'tap'
import { resolveProcesses } from '../src/status/resolve.ts'

const worker = (url: string) => ({ service: 'worker' as const, url })
const several = async () => ['10.0.0.6', '10.0.0.5']

t.test('a name with several addresses stands for several processes', async (t) => {
  t.same(await resolveProcesses(worker('http://worker:3002'), several), [
    worker('http://10.0.0.5:3002'),
    worker('http://10.0.0.6:3002'),
  ])
})

t.test('a name with one address, none, or a certificate is not replaced', async (t) => {
  const one = worker('http://worker:3002')
  t.same(await resolveProcesses(one, async () => ['10.0.0.5']), [one])
  t.same(await resolveProcesses(one, () => Promise.reject(new Error('not found'))), [one])
  const secure = worker('https://worker:3002')
  t.same(await resolveProcesses(secure, several), [secure])
  const local = worker('http://localhost:3002')
  t.same(await resolveProcesses(local), [local])
})
