import t from 'tap'
import { readEndpoints, type Endpoints } from '../src/endpoints.ts'

const endpoints: Endpoints = {
  gateway: 'http://127.0.0.1:1',
  gatewayAdmin: 'http://127.0.0.1:2',
  workerAdmin: null,
  workerAdmins: [],
  page: 'http://127.0.0.1:6',
  redis: 'redis://127.0.0.1:3',
  clickhouse: 'http://127.0.0.1:4',
  analyst: 'http://127.0.0.1:4',
  s3: 'http://127.0.0.1:5',
  apiKey: 'ik_test',
  settings: {},
  pids: { redis: 1, clickhouse: 2, s3: 3, gateway: 4, workers: [], console: 5 },
}
const read = (content: string) => readEndpoints(t.testdir({ 'endpoints.json': content }))

t.test('endpoints that are damaged are an error that names the file', async (t) => {
  for (const content of ['', 'garbage', '{"gateway":']) {
    t.throws(() => read(content), /endpoints\.json is damaged: start the stack again/, content)
  }
  for (const content of ['null', '[]', '7', '{}', JSON.stringify({ ...endpoints, redis: 7 })]) {
    t.throws(() => read(content), /endpoints\.json was written by another version/, content)
  }
})

t.test('fields that a later version adds to the endpoints are ignored', async (t) => {
  t.match(read(JSON.stringify({ ...endpoints, later: true })), endpoints)
})
