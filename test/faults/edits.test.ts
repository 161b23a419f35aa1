import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { plantedCode } from '../simulation/planted-code.ts'
import { plantedBugs } from './planted.ts'
import { otherBuildEdits } from './scenarios/worker-overlap.ts'

const root = new URL('../../', import.meta.url)

t.test('the built code contains every text that the slow suites replace', async (t) => {
  const planted = [...plantedBugs, ...plantedCode]
  const edits = [...otherBuildEdits, ...planted.flatMap((bug) => bug.edits ?? [])]
  for (const { file, find } of edits) {
    const built = readFileSync(fileURLToPath(new URL(file, root)), 'utf8')
    t.ok(built.includes(find), `${file}: ${find}`)
  }
})
