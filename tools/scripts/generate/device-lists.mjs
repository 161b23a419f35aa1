import { deviceFields } from '../../../packages/contract/dist/index.js'

const generated =
  '// Generated from packages/contract/src/device-fields.ts by `npm run generate`. Do not edit.\n'
const about = [
  'Documented properties that are sent only with feedback. In a batch of log events, they would',
  "nearly double the size of the device's properties.",
]
const names = deviceFields.filter(({ isFeedbackOnly }) => isFeedbackOnly).map(({ name }) => name)

// One string, because each byte of the web client counts.
export const typeScriptList = () => `${generated}
/** ${about[0]} ${about[1]} */
export const feedbackOnly =
  '${names.join(' ')}'.split(' ')
`

export const kotlinList = () => `package intake.client

${generated}
/**
 * ${about[0]}
 * ${about[1]}
 */
internal val feedbackOnly =
    setOf(
${names.map((name) => `        "${name}",\n`).join('')}    )
`

export const swiftList = () => `${generated}
/// ${about[0]}
/// ${about[1]}
let feedbackOnlyFields: Set<String> = [
${names.map((name) => `  "${name}",\n`).join('')}]
`

/** For a page about a sender: which properties belong to feedback only. */
export const sentence = () =>
  `Log events leave out ${names.map((name) => `\`${name}\``).join(', ')}; feedback carries all.`
