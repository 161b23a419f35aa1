// Measures how long examining pictures and removing their metadata takes, for ordinary pictures of
// 10 MB and for those that a hostile sender makes. Prints the CPU time of the first run in the
// process and the median of 25 runs, in milliseconds. Other processes do not increase the CPU time.
// After npm run build: npx tsx packages/pictures/test/measure.ts
import { examinePicture, PictureError } from '@intake/pictures'
import { craftedPictures, picturesOfManyParts } from '../../../test/hostile/attack/pictures.ts'
import { ordinaryPictures } from './corpus/ordinary.ts'

const runs = 25

function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

function walk(bytes: Buffer, type: string): void {
  try {
    const picture = examinePicture(bytes, type)
    if (!picture.isClean) picture.removeMetadata()
  } catch (error) {
    if (!(error instanceof PictureError)) throw error
  }
}

function measure({ type, name, bytes }: { type: string; name: string; bytes: Buffer }): void {
  const taken = Array.from({ length: runs }, () => {
    const copy = Buffer.from(bytes)
    return cpuMs(() => walk(copy, type))
  })
  const [first] = taken
  const median = taken.toSorted((one, other) => one - other)[Math.floor(runs / 2)]
  console.log(
    `${first?.toFixed(1).padStart(6)} ${median?.toFixed(1).padStart(6)}  ${type}: ${name}`,
  )
}

console.log(' first median')
for (const picture of ordinaryPictures()) measure(picture)
for (const { type, name, bytes } of [...picturesOfManyParts, ...craftedPictures]) {
  measure({ type, name, bytes: bytes() })
}
