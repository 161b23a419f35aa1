import { randomBytes } from 'node:crypto'

export const mebibyte = 1024 * 1024

const sender = {
  bundle_identifier: 'com.example.hostile',
  device: { os: 'Android' },
  device_uuid: 'bd9c40f6-0000-4b8a-9d3b-000000000000',
  unique_user_id: 'hostile',
}
const members = JSON.stringify(sender).slice(1, -1)

/** A body of `POST /api/log`; `params` and the additional members in `extra` are JSON. */
export const logText = (params = '{}', extra = '') =>
  `{${members},"log":{"event":"a","params":${params}}${extra}}`

/** A body of `POST /api/log/batch`; the entries are JSON. */
export const batchText = (entries: string, extra = '') => `{${members},"logs":[${entries}]${extra}}`

export const payloadText = () => `{${members},"feedback":{"text":"a"}}`

/** Repeats `text` as often as it fits into `bytes`, with commas between the copies. */
export const list = (text: string, bytes: number) =>
  `${`${text},`.repeat(Math.max(0, Math.floor(bytes / (text.length + 1)) - 1))}${text}`

/** An object of about this many bytes, with members that `member` returns. */
export function manyMembers(bytes: number, member: (index: number) => string): string {
  const parts: string[] = []
  for (let size = 2, index = 0; size < bytes; index++) {
    const part = member(index)
    parts.push(part)
    size += part.length + 1
  }
  return `{${parts.join(',')}}`
}

/** A text of this length that hardly compresses. */
export const noise = (characters: number) =>
  randomBytes(Math.ceil((characters * 3) / 4))
    .toString('base64')
    .slice(0, characters)
