/**
 * Changes of the client for JavaScript, by what the wrong client then does: the title of the case
 * that finds it, a file of `clients/javascript/src/core`, a text of it, and what replaces the text.
 */
export const flaws = {
  'deletes before it sends': {
    found: 'deletes an event only after the definite answer',
    file: 'send-logs.ts',
    from: 'return stored ? send(client, segment, stored) : {}',
    to: 'await client.records.remove(segment.name); return stored ? send(client, segment, stored) : {}',
  },
  'gives a new id on retry': {
    found: 'keeps the id over a retry',
    file: 'send-logs.ts',
    from: 'shiftEntry(event, shiftMs)',
    to: '({ ...event, id: client.nextId(client.now()) })',
  },
  'ignores Retry-After': {
    found: 'obeys Retry-After',
    file: 'answer.ts',
    from: 'Number(retryAfter) * 1000 || Date.parse(retryAfter!) - correctedNow(client) || 0',
    to: '0',
  },
  'drops after four failures': {
    found: 'never gives up on an outage',
    file: 'send-logs.ts',
    from: 'if (unsettled) return unsettled',
    to: 'segment.tries = (segment.tries || 0) + 1; if (unsettled && segment.tries < 4) return unsettled',
  },
  'gives up what a proxy refuses': {
    found: 'keeps what a proxy refuses',
    file: 'answer.ts',
    from: '(!isOfIntake || (!isSuccess && isUnsettled(status)))',
    to: '(isSuccess ? !isOfIntake : isUnsettled(status))',
  },
  'retries 400': {
    found: 'does not repeat a 400, and sends the rest',
    file: 'decide.ts',
    from: 'status >= 500 ||',
    to: 'status >= 500 || status === 400 ||',
  },
  'forgets what it attempted': {
    found: 'marks a batch as attempted before the request, so that it remembers after a kill',
    file: 'entry-name.ts',
    from: 'last | closed',
    to: 'closed',
  },
  'gives a new id after an open attempt': {
    found: 're-identifies only what was never attempted',
    file: 'send-logs.ts',
    from: '!mayBeStored && generation',
    to: 'generation',
  },
  'drops a batch that is too large': {
    found: 'splits on 413',
    file: 'send-logs.ts',
    from: '(isTooLarge || isProbe || segment.isResting)',
    to: 'false',
  },
  'repeats rejected entries': {
    found: 'does not repeat a rejected entry',
    file: 'send-logs.ts',
    from: "addDrops(client, isOutOfRange ? 'expired' : reason, 1)\n    return false",
    to: 'return true',
  },
  'follows redirects': {
    found: 'sends nothing to where a 307 points, and keeps the event',
    file: 'fetch-transport.ts',
    from: "redirect: 'manual'",
    to: "redirect: 'follow'",
  },
  'repeats dropped entries': {
    found: 'does not repeat an entry that the operator drops',
    file: 'send-logs.ts',
    from: "learn(client, event, status === 'dropped')\n      return false",
    to: "return status === 'dropped'",
  },
  'sends what is dropped for ever': {
    found: 'leaves out a name of which twenty events were dropped, and takes no number for it',
    file: 'dropped-names.ts',
    from: 'entry.count < droppedMin',
    to: 'true',
  },
  'never asks again': {
    found: 'asks after five minutes with one event whether its name is still dropped',
    file: 'dropped-names.ts',
    from: 'if (leftMs > 0 && leftMs <= pauseMs)',
    to: '',
  },
  'knows all codes': {
    found: 'takes a code that nobody knows as final for that entry, and sends the rest',
    file: 'send-logs.ts',
    from: "({ status }) => typeof status === 'string'",
    to: "({ code }) => code !== 'quota_of_tomorrow'",
  },
  'goes on when its key is revoked': {
    found: 'stops when its key is revoked',
    file: 'answer.ts',
    from: 'client.stopReason = code',
    to: '{}',
  },
  'drops when its key is revoked': {
    found: 'keeps everything when its key is revoked, and sends it with a new one',
    file: 'decide.ts',
    from: ' || isAboutSettings(status)',
    to: '',
  },
  'drops when its key is suspended': {
    found: 'keeps everything while its key is suspended, and sends it later',
    file: 'retry-rules.ts',
    from: '[401, 403, 404, 405]',
    to: '[401, 404, 405]',
  },
  'has one queue for everything': {
    found: 'holds no feedback up behind logs',
    file: 'client.ts',
    from: '[sendLogs, sendFeedback]',
    to: '[async (one: State) => (await sendLogs(one)) ?? sendFeedback(one)]',
  },
  'drops feedback for logs': {
    found: 'never lets feedback give way to logs',
    file: 'log-queue.ts',
    from: 'void remove(client, victim)',
    to: 'client.feedbacks = []; void remove(client, victim)',
  },
  'sends a thousand at once': {
    found: 'sends at most 500 events in a request',
    file: 'log-queue.ts',
    from: `Math.min(batchEntriesMax, batchMax, storageEventsMax / segmentsMin) &&
    segment.byteCount + size <= Math.min(segmentBytesMax, storageBytesMax / segmentsMin)`,
    to: '1_000',
  },
  'knows no limit of bytes': {
    found: 'sends bodies below 200 KB, however large the events are',
    file: 'log-queue.ts',
    from: 'Math.min(segmentBytesMax, storageBytesMax / segmentsMin)',
    to: 'Infinity',
  },
  'writes the time of the attempt into the body': {
    found: 'sends the same ids and bytes on every retry, whatever was logged meanwhile',
    file: 'send-logs.ts',
    from: '...context.sender, logs',
    to: '...context.sender, sent_at: client.now(), logs',
  },
  'takes any 2xx for success': {
    found: 'takes the page of a hotel, with status 200, for no answer',
    file: 'answer.ts',
    from: 'status !== 413 &&',
    to: 'status !== 413 && status !== 200 &&',
  },
  'looks at the status only': {
    found: 'takes half an answer for none',
    file: 'fetch-transport.ts',
    from: 'const { status, headers, body: stream } = response',
    to: `const { status, headers, body: stream } = response
      const accepted = '{"results":[{"status":"accepted"}]}'
      if (status === 207) return { status, body: accepted, date: null, retryAfter: null }`,
  },
  'retries 500 for ever': {
    found: 'retries a 500 at most three times',
    file: 'answer.ts',
    from: '++entry.failures >= fewAttempts',
    to: 'false',
  },
  'keeps everything in memory': {
    found: 'keeps over a kill what was logged and never sent',
    file: 'with-fallback.ts',
    from: '!memory.has(name)',
    to: 'false',
  },
  'asks for settings at the start': {
    found: 'makes no request before there is an event',
    file: 'client.ts',
    from: 'client.setTimeout(() => void start(client), 0, true)',
    to: "void start(client); void client.transport({ path: '/settings', body: '{}' }).catch(() => 0)",
  },
  'believes the clock of a proxy': {
    found: 'takes no time from the page of a proxy',
    file: 'answer.ts',
    from: 'serverMs && isOfIntake',
    to: 'serverMs',
  },
  'sends before it knows its device': {
    found: 'sends nothing without its device while its storage fails at the start',
    file: 'kept.ts',
    from: 'await within(client, startMsMax, load(client), true)',
    to: 'void load(client)',
  },
  'believes its clock': {
    found: 'corrects a clock that is three days ahead',
    file: 'clock.ts',
    from: 'serverMs + roundTripMs / 2 - clock.now()',
    to: '0',
  },
  'keeps its store after opting out': {
    found: 'empties its store when the user opts out',
    file: 'kept.ts',
    from: '(optOutKey, true)\n      await removeAll(client)',
    to: '(optOutKey, true)',
  },
  'drops the newest': {
    found: 'gives way oldest first when its store is full',
    file: 'log-queue.ts',
    from: 'client.segments.find(({ isBusy }) => !isBusy)',
    to: 'client.segments.findLast(({ isBusy }) => !isBusy)',
  },
  'gives ids of version 4': {
    found: 'gives an event a UUIDv7 of the moment it happened',
    file: 'uuid.ts',
    from: '| 0x7000',
    to: '| 0x4000',
  },
  'sends for the user of today': {
    found: 'attributes an event to the user of its moment',
    file: 'send-logs.ts',
    from: "...senderOf(client, ''), ...context.sender",
    to: '...context.sender, ...senderOf(client, client.user)',
  },
  'leaves what was accepted on disk': {
    found: 'does not send again after a kill what was accepted',
    file: 'stored-segments.ts',
    from: 'if (segment.name) await client.records.remove(segment.name)',
    to: '',
  },
  'insists on its device': {
    found: 'loses no event for a property of its device that is refused',
    file: 'answer.ts',
    from: '!isSuccess && refuse(text, client.refused)',
    to: 'false',
  },
  'is strict about pictures': {
    found: 'loses no text for a picture that is none',
    file: 'fetch-transport.ts',
    from: "prefer: 'handling=lenient'",
    to: '',
  },
  'has no end of a flush': {
    found: 'ends a flush in time while nothing answers',
    file: 'client.ts',
    from: 'await within(client, timeoutMs, sendAll(client))',
    to: 'await sendAll(client)',
  },
  'shows its key in the URL': {
    found: 'delivers an event once, with what was said of it',
    file: 'fetch-transport.ts',
    from: 'prefix + path,',
    to: '`${prefix + path}?key=${apiKey}`,',
  },
  'sends every value as a string': {
    found: 'keeps the values and types of params',
    file: 'record.ts',
    from: 'add(client, name, parseObject(text))',
    to: `add(client, name, Object.fromEntries(
      Object.entries(parseObject(text)).map(([key, value]) => [key, String(value)])))`,
  },
}

export type Flaw = keyof typeof flaws
