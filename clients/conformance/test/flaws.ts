/** The possible flaws of a sender, each with the case that finds it. */
export const flaws = {
  'deletes before it sends': 'deletes an event only after the definite answer',
  'gives a new id on retry': 'keeps the id over a retry',
  'ignores Retry-After': 'obeys Retry-After',
  'drops after four failures': 'never gives up on an outage',
  'retries 400': 'does not repeat a 400, and sends the rest',
  'forgets what it attempted':
    'marks a batch as attempted before the request, so that it remembers after a kill',
  'gives a new id after an open attempt': 're-identifies only what was never attempted',
  'drops a batch that is too large': 'splits on 413',
  'repeats rejected entries': 'does not repeat a rejected entry',
  'follows redirects': 'sends nothing to where a 307 points, and keeps the event',
  'repeats dropped entries': 'does not repeat an entry that the operator drops',
  'sends what is dropped for ever':
    'leaves out a name of which twenty events were dropped, and takes no number for it',
  'never asks again': 'asks after five minutes with one event whether its name is still dropped',
  'knows all codes': 'takes a code that nobody knows as final for that entry, and sends the rest',
  'goes on when its key is revoked': 'stops when its key is revoked',
  'drops when its key is revoked':
    'keeps everything when its key is revoked, and sends it with a new one',
  'drops when its key is suspended':
    'keeps everything while its key is suspended, and sends it later',
  'has one queue for everything': 'holds no feedback up behind logs',
  'drops feedback for logs': 'never lets feedback give way to logs',
  'sends a thousand at once': 'sends at most 500 events in a request',
  'knows no limit of bytes': 'sends bodies below 200 KB, however large the events are',
  'adds to a batch between attempts':
    'sends the same ids and bytes on every retry, whatever was logged meanwhile',
  'takes any 2xx for success': 'takes the page of a hotel, with status 200, for no answer',
  'looks at the status only': 'takes half an answer for none',
  'retries 500 for ever': 'retries a 500 at most three times',
  'keeps everything in memory': 'keeps over a kill what was logged and never sent',
  'asks for settings at the start': 'makes no request before there is an event',
  'believes the clock of a proxy': 'takes no time from the page of a proxy',
  'sends before it knows its device':
    'sends nothing without its device while its storage fails at the start',
  'believes its clock': 'corrects a clock that is three days ahead',
  'keeps its store after opting out': 'empties its store when the user opts out',
  'drops the newest': 'gives way oldest first when its store is full',
  'sends everything from a closing page':
    'sends no more than 64 KiB from a closing page, and the rest at the next visit',
  'gives ids of version 4': 'gives an event a UUIDv7 of the moment it happened',
  'sends for the user of today': 'attributes an event to the user of its moment',
  'leaves what was accepted on disk': 'does not send again after a kill what was accepted',
  'insists on its device': 'loses no event for a property of its device that is refused',
  'is strict about pictures': 'loses no text for a picture that is none',
  'has no end of a flush': 'ends a flush in time while nothing answers',
  'shows its key in the URL': 'delivers an event once, with what was said of it',
  'sends every value as a string': 'keeps the values and types of params',
} as const

export type Flaw = keyof typeof flaws
