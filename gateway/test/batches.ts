import { post, sender, type TestGateway } from './support.ts'

export const url = '/api/log/batch'

export const batch = (logs: unknown[], rest: object = {}) => ({ ...sender(), logs, ...rest })

export const send = (
  gateway: Pick<TestGateway, 'app'>,
  payload: object | string,
  more: Record<string, string> = {},
) => post(gateway, url, payload, more)
