import type { FastifyReply } from 'fastify'
import type { Cache } from '../cached.ts'
import type { CountReader } from '../count-reader.ts'
import type { Html } from '../html.ts'
import type { RecordReader } from '../records.ts'
import type { SignPicture } from '../views/pictures.ts'
import type { Header, WorkerState } from '../worker-state.ts'

export interface Elsewhere {
  path: string
}

/** A file for spreadsheets. */
export interface CsvFile {
  file: string
  csv: string
}

export interface ViewContext {
  reader: RecordReader
  state: WorkerState
  /**
   * The reader of counts. While few events are stored it counts the records themselves.
   *
   * @param recordsFromMs as for `countReader`
   */
  counts(recordsFromMs?: number): Promise<CountReader>
  /** Caches counts of long periods, and the names that the fields of a form suggest. */
  cached: Cache
  /** Caches data that many readers request at the same time. */
  cachedBriefly: Cache
  sign: SignPicture
  /**
   * Registers a route that shows a view or redirects. A request waits while too many views are
   * being created. A request for an urgent view waits only for other urgent views.
   */
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
  /** The state of the worker at the beginning of the request. */
  header: Header
}
