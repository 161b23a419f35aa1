// Measures the CPU time of examining pictures and of removing their metadata. The pictures are
// ordinary ones of 10 MB, and some that a hostile sender makes. Each picture is processed 25 times.
// Prints four CPU times for each picture, in milliseconds: the first examination, the fastest run
// of both steps together, the median examination, and the median removal. On a busy machine, the
// same work takes up to twice as much CPU time.
// After npm run build: npx tsx packages/pictures/test/measure.ts
import { createHash } from 'node:crypto'
import { examinePicture, PictureError, type Picture } from '@intake/pictures'
import {
  craftedPictures,
  picturesOfManyParts,
} from '../../../test/hostile/attack/pictures/index.ts'
import { ordinaryPictures } from './corpus/ordinary.ts'

const runs = 25

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** The CPU times of examining a picture and of removing its metadata. */
function walk(bytes: Buffer, type: string): [examined: number, removed: number] {
  let picture: Picture | undefined
  const examined = cpuMs(() => {
    try {
      picture = examinePicture(bytes, type)
    } catch (error) {
      if (!(error instanceof PictureError)) throw error
    }
  })
  return [examined, cpuMs(() => picture?.isClean === false && picture.removeMetadata())]
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN
}

function measure(name: string, work: () => [examined: number, removed: number]): void {
  const taken = Array.from({ length: runs }, work)
  const columns = [
    taken[0]?.[0] ?? NaN,
    Math.min(...taken.map(([examined, removed]) => examined + removed)),
    median(taken.map(([examined]) => examined)),
    median(taken.map(([, removed]) => removed)),
  ]
  console.log(`${columns.map((ms) => ms.toFixed(1).padStart(8)).join('')}  ${name}`)
}

console.log('   first   least examine  remove')
const hashed = Buffer.alloc(10 * 1024 * 1024)
measure('SHA-256 of 10 MiB, to compare', () => [
  cpuMs(() => createHash('sha256').update(hashed).digest()),
  0,
])
for (const { type, name, bytes } of ordinaryPictures()) {
  measure(`${type}: ${name}`, () => walk(Buffer.from(bytes), type))
}
for (const { type, name, bytes } of [...picturesOfManyParts, ...craftedPictures]) {
  const picture = bytes()
  measure(`${type}: ${name}`, () => walk(Buffer.from(picture), type))
}
