import type { FastifyReply } from 'fastify'
import type { Cache } from '../../cached.ts'
import type { CountReader } from '../count-reader.ts'
import type { Html } from '../html.ts'
import type { RecordReader } from '../records.ts'
import type { SignPicture } from '../views/pictures.ts'
import type { Header, WorkerState } from '../worker-state.ts'

export type Elsewhere = { path: string }
export type CsvFile = { file: string; csv: string }

export interface ViewContext {
  reader: RecordReader
  state: WorkerState
  /** @param recordsFromMs as for `countReader` */
  counts(recordsFromMs?: number): Promise<CountReader>
  cached: Cache
  cachedBriefly: Cache
  sign: SignPicture
  /** A request waits while too many are served; for an urgent view, only for other urgent ones. */
  view(
    path: string,
    make: (request: ViewRequest) => Promise<Html | Elsewhere | CsvFile>,
    options?: { constraints?: { wants: 'html' }; isUrgent?: boolean },
  ): void
}

export interface ViewRequest {
  query: URLSearchParams
  params: Record<string, string>
  reply: FastifyReply
  header: Header
}
