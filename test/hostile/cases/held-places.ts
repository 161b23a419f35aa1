import { mebibyte } from '../attack/bodies.ts'
import { holdConnections } from '../attack/hold.ts'
import { form, head, json } from '../attack/http-text.ts'
import { hostileCase, type Attacker } from '../hostile-case.ts'

const batchHead = ({ apiKey }: Attacker) =>
  head('POST /api/log/batch', { ...json, 'x-api-key': apiKey, 'content-length': 4 * mebibyte })
/**
 * The header of a request with a form. Five such requests declare 192 MiB, the whole budget for
 * forms.
 */
const formHead = ({ apiKey }: Attacker) =>
  head('POST /api/feedback', { ...form, 'x-api-key': apiKey, 'content-length': 40_260_000 })

export const heldPlaces = [
  hostileCase({
    id: 'f1',
    title: 'one key: 16 connections that declare a batch of 4 MiB and send nothing',
    attack: (attacker) =>
      holdConnections(attacker, { connections: 16, greeting: batchHead(attacker) }),
  }),
  hostileCase({
    id: 'f2',
    title: 'one key: five connections that declare a form of 40 MB and send nothing',
    attack: (attacker) =>
      holdConnections(attacker, { connections: 5, greeting: formHead(attacker) }),
  }),
  hostileCase({
    id: 'f3',
    title: 'one key: 64 such batches that send one byte a second',
    attack: (attacker) =>
      holdConnections(attacker, {
        connections: 64,
        greeting: batchHead(attacker),
        trickle: ' ',
        givesUp: true,
      }),
  }),
  hostileCase({
    id: 'f5',
    title: 'one key: 30 batches of 4 MiB without the last byte',
    attack: (attacker) =>
      holdConnections(attacker, {
        connections: 30,
        greeting: `${batchHead(attacker)}${' '.repeat(4 * mebibyte - 1)}`,
        givesUp: true,
      }),
  }),
]
