import { headers, logBody, type TestGateway } from './support.ts'

export const url = '/api/log/batch'

export function batch(logs: unknown[], rest: object = {}): Record<string, unknown> {
  const { log: _, ...sender } = logBody()
  return { ...sender, logs, ...rest }
}

export function send({ app }: TestGateway, payload: object, more: Record<string, string> = {}) {
  return app.inject({ method: 'POST', url, headers: { ...headers, ...more }, payload })
}
