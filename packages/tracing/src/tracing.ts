/** An operation with a duration, as a collector shows it. */
export interface Span {
  /** The context of the span, as in the header `traceparent` of W3C Trace Context. */
  readonly traceparent: string
  /** @param failure what failed, from a small set of words; absent if nothing failed */
  end(failure?: string): void
}

/** The span of a request, from its head to its response. */
export interface RequestSpan {
  readonly traceparent: string
  /** Call it when the response was sent; with no `status` when the client has disconnected. */
  end(response: { status: number | undefined; apiKeyId: string | undefined }): void
  /** Adds a link to a span that this request has caused, possibly together with other requests. */
  link(span: Span): void
}

/** A span is undefined if the request, or each request in the frame or insert, is not sampled. */
export interface Tracing {
  startRequest(request: { method: string; route: string; id: string }): RequestSpan | undefined
  /** Continues the trace of the first of `requests`, and links to the first 128 of them. */
  startEnqueue(frame: {
    queue: string
    rows: number
    requests: readonly RequestSpan[]
  }): Span | undefined
  /** Continues the trace of the first of `traceparents`, and links to the first 128 of them. */
  startInsert(insert: {
    table: string
    rows: number
    frames: number
    /** The `traceparent` of each frame that has one. */
    traceparents: readonly string[]
  }): Span | undefined
  /** Sends the waiting spans. Gives up if the collector does not accept them within two seconds. */
  close(): Promise<void>
}
