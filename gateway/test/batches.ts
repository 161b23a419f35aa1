import { post, sender, type TestGateway } from './support.ts'

export const url = '/api/log/batch'

/** A list of equal values. */
export const copies = <Value>(count: number, value: Value): Value[] =>
  Array.from({ length: count }, () => value)

export const batch = (logs: unknown[], rest: object = {}) => ({ ...sender(), logs, ...rest })

export const send = (
  gateway: Pick<TestGateway, 'app'>,
  payload: object | string,
  more: Record<string, string> = {},
) => post(gateway, url, payload, more)
