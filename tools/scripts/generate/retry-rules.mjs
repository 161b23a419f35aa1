import { errorCatalogue } from '../../../packages/contract/dist/index.js'

/** A client handles every other error by the class of its status, such as 4xx. */
function retryRules() {
  const entries = Object.entries(errorCatalogue)
  const statusesOf = (isListed) => [
    ...new Set(
      entries
        .map(([, entry]) => entry)
        .filter(isListed)
        .map(({ status }) => status),
    ),
  ]
  return [
    {
      name: 'retryStatuses',
      about: 'Statuses below 500 after which the same request can succeed later.',
      values: statusesOf(({ retryable, status }) => retryable && status < 500),
    },
    {
      name: 'settingStatuses',
      about: 'Statuses of errors that the URL or the API key causes, not the records.',
      values: statusesOf(({ status }) => [401, 403, 404, 405].includes(status)),
    },
    {
      name: 'uncertainCodes',
      about: 'Codes of 503 after which the records may be stored. After other codes they are not.',
      values: ['outcome_unknown'],
    },
  ]
}

const generatedRules = '// Generated from the error catalogue by `npm run generate`. Do not edit.\n'

export const typeScriptRules = () =>
  generatedRules +
  retryRules()
    .map(({ name, about, values }) => {
      const isText = typeof values[0] === 'string'
      const list = values.map((value) => (isText ? `'${value}'` : value)).join(', ')
      return `\n/** ${about} */\nexport const ${name}: readonly ${isText ? 'string' : 'number'}[] = [${list}]\n`
    })
    .join('')

export const swiftRules = () =>
  `${generatedRules}enum RetryRules {\n` +
  retryRules()
    .map(({ name, about, values }) => {
      const type = typeof values[0] === 'string' ? 'String' : 'Int'
      return `  /// ${about}\n  static let ${name}: [${type}] = ${JSON.stringify(values).replaceAll(',', ', ')}\n`
    })
    .join('\n') +
  '}\n'

export const kotlinRules = () =>
  `package intake.client\n\n${generatedRules}` +
  retryRules()
    .map(({ name, about, values }) => {
      const list = values.map((value) => JSON.stringify(value)).join(', ')
      return `\n/** ${about} */\ninternal val ${name} = setOf(${list})\n`
    })
    .join('')
