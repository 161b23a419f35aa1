import { types } from 'node:util'

/** The bytes of an image, for example as a `Buffer` or a `File`. */
export type ImageBytes = ArrayBufferView | ArrayBuffer | Blob

/** An image. `type` and `name` are only hints: the gateway detects the type from the bytes. */
export type NodeAttachment =
  | ImageBytes
  | { data: ImageBytes; name?: string | undefined; type?: string | undefined }

/** An image in its stored form. */
export interface FileAttachment {
  name: string
  type: string
  data: Uint8Array
}

/**
 * Copies the bytes of an image to a `Uint8Array`, because the app may change them. A `Buffer` is
 * converted too, because it has a JSON form of its own. Resolves to undefined if `given` is not an
 * image: for example, a path.
 */
export async function keepAttachment(
  given: NodeAttachment | undefined,
): Promise<FileAttachment | undefined> {
  const { data: inner, name, type } = Object(given) as Record<string, unknown>
  const data = await bytesOf(inner ?? given).catch(() => undefined)
  return data && { data, name: textOr(name, 'image'), type: textOr(type, defaultType) }
}

const defaultType = 'application/octet-stream'
const textOr = (value: unknown, preset: string) =>
  typeof value === 'string' && value !== '' ? value : preset

async function bytesOf(data: unknown): Promise<Uint8Array | undefined> {
  if (ArrayBuffer.isView(data))
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice()
  if (types.isAnyArrayBuffer(data)) return new Uint8Array(data).slice()
  return data instanceof Blob ? new Uint8Array(await data.arrayBuffer()) : undefined
}
