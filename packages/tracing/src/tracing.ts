/** Something that takes time, as a collector will show it. */
export interface Span {
  /** Its context, as in the header `traceparent` of W3C Trace Context. */
  readonly traceparent: string
  /** @param failure what failed, from a small set of words; absent: nothing failed */
  end(failure?: string): void
}

/** A request, from its head to its response. */
export interface RequestSpan {
  readonly traceparent: string
  /** Ends it. The response has been sent, or the client has left: then `status` is undefined. */
  end(response: { status: number | undefined; apiKeyId: string | undefined }): void
  /** Refers to a span of which this request is one of several causes. */
  link(span: Span): void
}

/**
 * The spans of Intake. Each of these methods returns undefined when the request, or every request in the
 * frame or the insert, is not sampled.
 */
export interface Tracing {
  startRequest(request: { method: string; route: string; id: string }): RequestSpan | undefined
  /** A frame on its way to the queue. It continues the trace of its first request and links to all. */
  startEnqueue(frame: {
    queue: string
    rows: number
    requests: readonly RequestSpan[]
  }): Span | undefined
  /** An insert. It continues the trace of its first frame and links to all. */
  startInsert(insert: {
    table: string
    rows: number
    frames: number
    /** Of the frames that have one. */
    traceparents: readonly string[]
  }): Span | undefined
  /** Sends the spans that wait, if the collector takes them within two seconds. */
  close(): Promise<void>
}
