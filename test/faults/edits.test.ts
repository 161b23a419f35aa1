import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { plantedBugs } from './planted.ts'
import { otherBuildEdits } from './scenarios/worker-overlap.ts'

const root = new URL('../../', import.meta.url)

t.test('the built code contains every text that the long fault suites replace', async (t) => {
  const edits = [...otherBuildEdits, ...plantedBugs.flatMap((bug) => bug.edits ?? [])]
  for (const { file, find } of edits) {
    const built = readFileSync(fileURLToPath(new URL(file, root)), 'utf8')
    t.ok(built.includes(find), `${file}: ${find}`)
  }
})
