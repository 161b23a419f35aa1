import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createUuidV7 } from '@intake/contract'
import type { InitOptions, SentAttachment } from '../src/adapter.ts'
import type { Flaw } from './flaws.ts'

interface Entry {
  id: string
  event: string
  params: object
}

/** Events that are stored in one file and sent in one request. */
interface Batch {
  /** The name of the batch's file begins with this number. */
  number: number
  user: string
  entries: Entry[]
  bytes: number
  isOpen: boolean
  /** Whether a request with this batch may have reached the server. */
  isAttempted: boolean
  serverErrors: number
}

interface StoredFeedback {
  id: string
  user: string
  text: string
  email?: string
  attachments?: SentAttachment[]
}

/** Log events and feedback each have a lane, so that neither waits for the other. */
interface Lane {
  pausedUntil: number
  failures: number
  run: Promise<void> | undefined
}

type Outcome =
  | { kind: 'settled' }
  | { kind: 'refused' }
  | { kind: 'too large' }
  | { kind: 'unauthorized' }
  | { kind: 'server error' }
  | { kind: 'later'; retryAfterMs: number | undefined }

const entriesMax = 500
const bytesMax = 180_000
const pageEndBytesMax = 60_000
const requestMs = 20_000
/** How long the sender waits for a storage that cannot be read. */
const storageMs = 4_000

/**
 * Creates the sender with which the suite itself is tested. Without a `flaw` it is correct. It is
 * written to be simple, not fast.
 */
export function createReferenceSender(options: {
  folder: string
  init: InitOptions
  flaw: Flaw | undefined
  clockOffsetMs: number
}) {
  const { folder, init, flaw } = options
  const { min: retryMin, max: retryMax } = init.retryMs ?? { min: 1_000, max: 900_000 }
  const eventsMax = init.storageEventsMax ?? 5_000
  const batchMax =
    flaw === 'sends a thousand at once' ? 1_000 : (init.batchEntriesMax ?? entriesMax)
  const user = init.userId ?? ''
  const ended = new AbortController()
  const lanes: Record<'logs' | 'feedback', Lane> = {
    logs: { pausedUntil: 0, failures: 0, run: undefined },
    feedback: { pausedUntil: 0, failures: 0, run: undefined },
  }
  const dropped: Record<string, number> = {}
  const droppedNames = new Map<string, { count: number; until: number }>()
  let shiftMs = options.clockOffsetMs
  let correctionMs = 0
  let lastId = ''
  let stopped: string | false = false
  let batches: Batch[] = []
  let feedbacks: StoredFeedback[] = []
  let isOptedOut = false
  let nextNumber = 1
  let deviceUuid = init.deviceUuid
  const device: Record<string, unknown> = { os: 'reference', ...init.device }
  /** How long from the start the storage cannot be used. */
  const brokenMs = init.storageFailsMs ?? init.storageHangsMs ?? 0

  // Each batch and each feedback has a file. The ending of a batch's file name is the batch's
  // state: `open`, `ready` or `tried`.

  const isMemoryOnly =
    init.storageFull === true || brokenMs > 0 || flaw === 'keeps everything in memory'
  function onDisk(save: () => void): void {
    if (!isMemoryOnly) save()
  }
  const fileOf = ({ number, isOpen, isAttempted }: Batch) =>
    join(
      folder,
      `${String(number).padStart(9, '0')}.${isAttempted ? 'tried' : isOpen ? 'open' : 'ready'}`,
    )
  const feedbackFile = ({ id }: StoredFeedback) => join(folder, `${id}.feedback`)
  const optOutFile = join(folder, 'opted-out')

  function load(): void {
    mkdirSync(folder, { recursive: true })
    const deviceFile = join(folder, 'device')
    if (deviceUuid === undefined && !existsSync(deviceFile)) {
      writeFileSync(deviceFile, randomUUID())
    }
    deviceUuid ??= readFileSync(deviceFile, 'utf8')
    for (const found of readdirSync(folder).toSorted()) {
      if (found === 'device') continue
      const name = flaw === 'forgets what it attempted' ? found.replace('tried', 'ready') : found
      if (name !== found) renameSync(join(folder, found), join(folder, name))
      const text = readFileSync(join(folder, name), 'utf8')
      if (name === 'opted-out') isOptedOut = true
      else if (name.endsWith('.feedback')) feedbacks.push(JSON.parse(text) as StoredFeedback)
      else batches.push(readBatch(name, text))
    }
    nextNumber = Math.max(0, ...batches.map(({ number }) => number)) + 1
    // Closes the batches of earlier sessions, because this session may have another user.
    for (const batch of batches) if (batch.isOpen) change(batch, { isOpen: false })
  }

  function readBatch(name: string, text: string): Batch {
    const [head = '{}', ...lines] = text.trimEnd().split('\n')
    return {
      number: Number.parseInt(name, 10),
      user:
        flaw === 'sends for the user of today' ? user : (JSON.parse(head) as { user: string }).user,
      entries: lines.map((line) => JSON.parse(line) as Entry),
      bytes: text.length,
      isOpen: name.endsWith('.open'),
      isAttempted: name.endsWith('.tried'),
      serverErrors: 0,
    }
  }

  function createBatch(entries: Entry[], rest: Partial<Batch>): Batch {
    const batch: Batch = {
      number: nextNumber++,
      user,
      entries,
      bytes: Buffer.byteLength(JSON.stringify(entries)),
      isOpen: false,
      isAttempted: false,
      serverErrors: 0,
      ...rest,
    }
    write(batch)
    batches.push(batch)
    return batch
  }

  function write(batch: Batch): void {
    const lines = [
      JSON.stringify({ user: batch.user }),
      ...batch.entries.map((one) => JSON.stringify(one)),
    ]
    onDisk(() => writeFileSync(fileOf(batch), `${lines.join('\n')}\n`))
  }

  function change(batch: Batch, state: Pick<Partial<Batch>, 'isOpen' | 'isAttempted'>): void {
    const before = fileOf(batch)
    Object.assign(batch, state)
    onDisk(() => renameSync(before, fileOf(batch)))
  }

  function remove(batch: Batch): void {
    batches = batches.filter((one) => one !== batch)
    if (flaw !== 'leaves what was accepted on disk')
      onDisk(() => rmSync(fileOf(batch), { force: true }))
  }

  function removeFeedback(feedback: StoredFeedback): void {
    feedbacks = feedbacks.filter((one) => one !== feedback)
    onDisk(() => rmSync(feedbackFile(feedback), { force: true }))
  }

  const drop = (reason: string, count: number) => (dropped[reason] = (dropped[reason] ?? 0) + count)

  const now = () => Date.now() + shiftMs + correctionMs

  /** Creates an id that is greater than the last one, unless the clock has been set back. */
  function newId(timeMs: number): string {
    if (flaw === 'gives ids of version 4') return randomUUID()
    const fresh = createUuidV7(timeMs)
    const isLater = fresh > lastId || fresh.slice(0, 13) < lastId.slice(0, 13)
    lastId = isLater ? fresh : nextAfter(lastId)
    return lastId
  }

  function log(event: string, params: object): string {
    if (isOptedOut || leavesOut(event)) return ''
    const sent = flaw === 'sends every value as a string' ? stringsOf(params) : params
    const entry: Entry = { id: newId(now()), event, params: sent }
    const line = `${JSON.stringify(entry)}\n`
    if (line.length > bytesMax) throw new Error('the event is too large')
    const last = batches.at(-1)
    const fits =
      last?.isOpen === true &&
      last.entries.length < batchMax &&
      (last.bytes + line.length < bytesMax || flaw === 'knows no limit of bytes')
    if (fits) {
      last.entries.push(entry)
      last.bytes += line.length
      onDisk(() => appendFileSync(fileOf(last), line))
    } else {
      if (last?.isOpen) change(last, { isOpen: false })
      createBatch([entry], { isOpen: true })
    }
    makeRoom()
    return entry.id
  }

  function leavesOut(event: string): boolean {
    const entry = droppedNames.get(event)
    if (entry === undefined || entry.count < 20 || flaw === 'sends what is dropped for ever')
      return false
    if (now() < entry.until || flaw === 'never asks again') return true
    entry.until = now() + 300_000
    return false
  }

  function learn(entries: readonly Entry[], results: readonly { status: string }[]): void {
    for (const [index, { event }] of entries.entries()) {
      if (results[index]?.status !== 'dropped') droppedNames.delete(event)
      else {
        const count = (droppedNames.get(event)?.count ?? 0) + 1
        droppedNames.set(event, { count, until: now() + 300_000 })
      }
    }
  }

  function makeRoom(): void {
    let count = batches.reduce((sum, { entries }) => sum + entries.length, 0)
    if (count > eventsMax && flaw === 'drops feedback for logs') {
      for (const feedback of feedbacks) removeFeedback(feedback)
    }
    while (count > eventsMax && batches.length > 1) {
      const victim = flaw === 'drops the newest' ? batches.at(-1) : batches[0]
      if (victim === undefined) return
      remove(victim)
      drop('full', victim.entries.length)
      count -= victim.entries.length
    }
  }

  /** Corrects the clock by the server's time, and gives new ids to events never attempted. */
  function learnTime(headers: Headers): void {
    const serverMs = Date.parse(headers.get('date') ?? '')
    if (Number.isNaN(serverMs) || flaw === 'believes its clock') return
    const offsetMs = serverMs - Date.now() - shiftMs
    const correction = Math.abs(offsetMs) > 60_000 ? offsetMs : 0
    const changeMs = correction - correctionMs
    if (Math.abs(changeMs) <= 60_000 && (correction === 0) === (correctionMs === 0)) return
    correctionMs = correction
    for (const batch of batches) {
      if (batch.isAttempted) continue
      for (const entry of batch.entries) entry.id = newId(timeOf(entry.id) + changeMs)
      write(batch)
    }
  }

  const bodyOf = ({ user: ofUser, entries }: Batch) =>
    JSON.stringify({
      bundle_identifier: init.bundleIdentifier,
      device,
      device_uuid: deviceUuid,
      unique_user_id: ofUser,
      logs: entries,
    })

  function formOf({ user: ofUser, attachments = [], ...feedback }: StoredFeedback): FormData {
    const form = new FormData()
    const head = {
      bundle_identifier: init.bundleIdentifier,
      device,
      device_uuid: deviceUuid,
      unique_user_id: ofUser,
    }
    form.append('payload', JSON.stringify({ ...head, feedback }))
    for (const { name, type, base64 } of attachments) {
      form.append('attachments', new Blob([Buffer.from(base64, 'base64')], { type }), name)
    }
    return form
  }

  const urlOf = (path: string) =>
    init.url + path + (flaw === 'shows its key in the URL' ? `?key=${init.apiKey}` : '')

  /**
   * Sends a request.
   *
   * @returns the outcome, and the results of the entries if a batch was accepted
   */
  async function request(
    path: string,
    body: string | FormData,
  ): Promise<{ outcome: Outcome; results?: { status: string; code?: string }[] }> {
    const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(requestMs)])
    const headers: Record<string, string> = { 'x-api-key': init.apiKey }
    if (typeof body === 'string') headers['content-type'] = 'application/json'
    else if (flaw !== 'is strict about pictures') headers['prefer'] = 'handling=lenient'
    try {
      const redirect = flaw === 'follows redirects' ? 'follow' : 'manual'
      const response = await fetch(urlOf(path), { method: 'POST', headers, body, signal, redirect })
      const isOfIntake = response.headers.get('content-type')?.includes('json')
      if (isOfIntake || flaw === 'believes the clock of a proxy') learnTime(response.headers)
      const { status } = response
      const isDone = status === 201 || status === 207
      if (isDone && flaw === 'looks at the status only') return { outcome: { kind: 'settled' } }
      const text = await response.text()
      if (status === 200 && flaw === 'takes any 2xx for success')
        return { outcome: { kind: 'settled' } }
      if (!isDone) return { outcome: outcomeOf(status, response.headers, text) }
      const { results } = JSON.parse(text) as { results?: { status: string; code?: string }[] }
      return { outcome: { kind: 'settled' }, ...(results && { results }) }
    } catch {
      return { outcome: { kind: 'later', retryAfterMs: undefined } }
    }
  }

  function outcomeOf(status: number, headers: Headers, text: string): Outcome {
    if (status === 403 && text.includes('"key_suspended"')) {
      const drops = flaw === 'drops when its key is suspended'
      return drops ? { kind: 'refused' } : later(headers)
    }
    if (status === 401) {
      if (flaw === 'drops when its key is revoked') return { kind: 'refused' }
      return flaw === 'goes on when its key is revoked' ? later(headers) : { kind: 'unauthorized' }
    }
    if (status === 413)
      return { kind: flaw === 'drops a batch that is too large' ? 'refused' : 'too large' }
    if (status === 500)
      return flaw === 'retries 500 for ever' ? later(headers) : { kind: 'server error' }
    if (status === 400 && flaw === 'retries 400') return later(headers)
    const refused = [...text.matchAll(/\/device\/(\w+)"/g)].map(([, name = '']) => name)
    if (refused.some((name) => name in device) && flaw !== 'insists on its device') {
      for (const name of refused) delete device[name]
      return later(headers)
    }
    if (status === 408 || status === 429 || status < 400 || status > 500) return later(headers)
    return { kind: 'refused' }
  }

  function later(headers: Headers): Outcome {
    const seconds = Number(headers.get('retry-after') ?? Number.NaN)
    const ignores = Number.isNaN(seconds) || flaw === 'ignores Retry-After'
    return {
      kind: 'later',
      retryAfterMs: ignores ? undefined : seconds * 1_000 * (1 + Math.random() / 2),
    }
  }

  function pause(lane: Lane, retryAfterMs: number | undefined): void {
    lane.failures++
    const backoffMs = Math.min(retryMax, retryMin * 2 ** lane.failures) * Math.random()
    lane.pausedUntil = performance.now() + Math.max(retryAfterMs ?? 0, backoffMs)
  }

  const nextBatch = () => batches.find(({ serverErrors }) => serverErrors < 3)

  async function sendNextBatch(lane: Lane): Promise<void> {
    const batch = nextBatch()
    if (batch === undefined) return
    if (flaw !== 'adds to a batch between attempts') change(batch, { isOpen: false })
    if (flaw === 'deletes before it sends') remove(batch)
    else change(batch, { isAttempted: true })
    if (flaw === 'gives a new id on retry' && lane.failures > 0) renew(batch)
    const { outcome, results } = await request('/api/log/batch', bodyOf(batch))
    if (ended.signal.aborted || !batches.includes(batch)) {
      if (flaw === 'deletes before it sends' && outcome.kind === 'later') batches.unshift(batch)
      return
    }
    settleBatch(lane, batch, outcome, results)
  }

  function settleBatch(
    lane: Lane,
    batch: Batch,
    outcome: Outcome,
    results: { status: string; code?: string }[] | undefined,
  ): void {
    const { entries } = batch
    switch (outcome.kind) {
      case 'settled': {
        lane.failures = 0
        learn(entries, results ?? [])
        const rejected = entries.filter((_, index) => results?.[index]?.status === 'rejected')
        const codes = new Set(results?.map(({ code }) => code))
        if (flaw === 'knows all codes' && codes.has('quota_of_tomorrow'))
          return pause(lane, undefined)
        remove(batch)
        if (
          flaw === 'adds to a batch between attempts' &&
          entries.length > (results?.length ?? 0)
        ) {
          createBatch(entries.slice(results?.length), { user: batch.user })
        }
        const left = entries.filter((_, index) => results?.[index]?.status === 'dropped')
        if (flaw === 'repeats dropped entries' && left.length > 0) {
          createBatch(left, { user: batch.user })
        }
        drop('rejected', rejected.length)
        if (rejected.length === 0) return
        const isLate = codes.has('id_time_out_of_range')
        if (flaw === 'gives a new id after an open attempt' && isLate) {
          renew(createBatch(rejected, { user: batch.user }))
        } else if (flaw === 'forgets what it attempted' && isLate) {
          renew(createBatch(rejected, { user: batch.user }))
        } else if (flaw === 'repeats rejected entries') createBatch(rejected, { user: batch.user })
        return
      }
      case 'refused':
        remove(batch)
        drop('refused', entries.length)
        return
      case 'too large':
        if (entries.length === 1) drop('too large', 1)
        else split(batch)
        remove(batch)
        return
      case 'unauthorized':
        stopped = 'unauthorized'
        return
      case 'server error':
        batch.serverErrors++
        return pause(lane, undefined)
      case 'later':
        pause(lane, outcome.retryAfterMs)
        if (flaw === 'drops after four failures' && lane.failures >= 4) remove(batch)
    }
  }

  const renew = (batch: Batch) => {
    for (const entry of batch.entries) entry.id = newId(now())
    write(batch)
  }

  function split({ entries, user: ofUser }: Batch): void {
    const middle = Math.ceil(entries.length / 2)
    for (const half of [entries.slice(0, middle), entries.slice(middle)]) {
      createBatch(half, { user: ofUser, isAttempted: true })
    }
    batches.sort((a, b) => (a.entries[0]?.id ?? '').localeCompare(b.entries[0]?.id ?? ''))
  }

  async function sendNextFeedback(lane: Lane): Promise<void> {
    const [feedback] = feedbacks
    if (feedback === undefined) return
    const { outcome } = await request('/api/feedback', formOf(feedback))
    if (ended.signal.aborted || !feedbacks.includes(feedback)) return
    if (outcome.kind === 'unauthorized') stopped = 'unauthorized'
    else if (outcome.kind === 'later') pause(lane, outcome.retryAfterMs)
    else if (outcome.kind === 'server error') pause(lane, undefined)
    else {
      removeFeedback(feedback)
      lane.failures = 0
    }
  }

  const isStopped = () => stopped !== false

  async function runLane(
    lane: Lane,
    deadline: number,
    work: { isEmpty(): boolean; send(): Promise<void> },
  ) {
    while (!work.isEmpty() && !isStopped() && !ended.signal.aborted) {
      const waitMs = lane.pausedUntil - performance.now()
      if (waitMs > 0) {
        const leftMs = deadline - performance.now()
        if (leftMs <= 0) return
        await sleep(Math.min(waitMs, leftMs), ended.signal)
        continue
      }
      await work.send()
      if (performance.now() > deadline) return
    }
  }

  async function flush(timeoutMs: number): Promise<number> {
    const deadline = performance.now() + timeoutMs
    if (deviceUuid === undefined) {
      await Promise.race([starting, sleep(timeoutMs, ended.signal)])
    }
    if (deviceUuid === undefined && flaw !== 'sends before it knows its device') return countLeft()
    const oneQueue = flaw === 'has one queue for everything'
    const logs = { isEmpty: () => nextBatch() === undefined, send: () => sendNextBatch(lanes.logs) }
    const others = {
      isEmpty: () => feedbacks.length === 0 || (oneQueue && batches.length > 0),
      send: () => sendNextFeedback(lanes.feedback),
    }
    const run = (lane: Lane, work: typeof logs) =>
      (lane.run ??= runLane(lane, deadline, work).finally(() => (lane.run = undefined)))
    const all = Promise.all([run(lanes.logs, logs), run(lanes.feedback, others)])
    if (flaw === 'has no end of a flush') await all
    else await Promise.race([all, sleep(timeoutMs, ended.signal)])
    return countLeft()
  }

  const countLeft = () =>
    batches.reduce((sum, { entries }) => sum + entries.length, 0) + feedbacks.length

  /** Sends one small batch, like a browser whose page closes, and does not use the response. */
  async function pageEnd(): Promise<void> {
    const batch = batches.find(({ isAttempted }) => !isAttempted)
    if (batch !== undefined) {
      let bytes = 0
      const count = batch.entries.findIndex((entry) => {
        bytes += Buffer.byteLength(JSON.stringify(entry)) + 1
        return bytes > pageEndBytesMax - 1_000
      })
      if (count > 0 && flaw !== 'sends everything from a closing page') {
        const rest = batch.entries.splice(count)
        createBatch(rest, { user: batch.user })
        write(batch)
      }
      change(batch, { isOpen: false })
      change(batch, { isAttempted: true })
      await request('/api/log/batch', bodyOf(batch))
    }
    end()
  }

  function optOut(): void {
    isOptedOut = true
    onDisk(() => writeFileSync(optOutFile, ''))
    if (flaw === 'keeps its store after opting out') return
    for (const batch of batches) remove(batch)
    for (const feedback of feedbacks) removeFeedback(feedback)
  }

  function optIn(): void {
    isOptedOut = false
    onDisk(() => rmSync(optOutFile, { force: true }))
  }

  function end(): void {
    clearInterval(timer)
    ended.abort()
  }

  /** Reads the storage; if it cannot be read, makes a UUID that is not kept. */
  async function begin(): Promise<void> {
    await sleep(Math.min(brokenMs, storageMs), ended.signal)
    if (brokenMs > storageMs) deviceUuid ??= randomUUID()
    else load()
  }

  if (brokenMs === 0) load()
  const starting = brokenMs === 0 ? undefined : begin()
  const intervalMs = init.flushIntervalMs ?? 5_000
  const timer = setInterval(() => void flush(intervalMs), Math.min(intervalMs, 2 ** 31 - 1))
  if (flaw === 'asks for settings at the start') {
    void fetch(`${init.url}/api/settings`, { headers: { 'x-api-key': init.apiKey } }).catch(
      () => undefined,
    )
  }

  return {
    log,
    feedback(feedback: Omit<StoredFeedback, 'id' | 'user'>): string {
      const stored = { ...feedback, id: createUuidV7(now()), user }
      onDisk(() => writeFileSync(feedbackFile(stored), JSON.stringify(stored)))
      feedbacks.push(stored)
      return stored.id
    },
    flush,
    state: () => ({
      pending: {
        logs: batches.reduce((sum, { entries }) => sum + entries.length, 0),
        feedback: feedbacks.length,
      },
      stopped,
      dropped,
    }),
    setClock: (offsetMs: number) => (shiftMs = offsetMs),
    optOut,
    optIn,
    pageEnd,
    end,
  }
}

export type ReferenceSender = ReturnType<typeof createReferenceSender>

const timeOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** Returns the id with its last 48 bits increased by one. */
function nextAfter(id: string): string {
  const tail = (Number.parseInt(id.slice(24), 16) + 1) % 2 ** 48
  return id.slice(0, 24) + tail.toString(16).padStart(12, '0')
}

const stringsOf = (params: object) =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]))

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    if (signal.aborted) done()
    else signal.addEventListener('abort', done, { once: true })
  })
}
