import { createLogPrinter, finishRow, type RequestContext } from '@intake/gateway'
import { checkJson, parseJson, rowJson } from '@intake/json'
import { IntakeError, limits } from '@intake/contract'
import { compileSchema, LogSubmission } from '@intake/contract/schemas'
import { isLeftOut, type CompiledRules } from '@intake/access'
import type { Identity } from '@intake/identity'

const validate = compileSchema(LogSubmission)

/**
 * Parses a JSON document as a gateway does: integers keep all digits.
 *
 * @throws {IntakeError} if it is no JSON, or too large
 */
export const parseRecord = (text: string): unknown =>
  parseJson(Buffer.from(text), { nodesMax: limits.jsonNodes, charge: () => {} }).value

/**
 * Returns the row that a gateway would store, as a line of JSON; undefined if a rule leaves the
 * event out.
 *
 * @throws {IntakeError} if a gateway would reject it
 */
export function printLog(
  submission: LogSubmission,
  options: {
    identity: Identity
    context: RequestContext
    rules: Pick<CompiledRules, 'active' | 'forSender'>
  },
): string | undefined {
  const { identity, context, rules } = options
  checkJson(submission)
  const { log, ...sender } = validate(submission)
  const ofSender = rules.forSender('logs', context.apiKeyId, sender)
  const ruling = ofSender?.judge(log.event)
  if (ruling !== undefined && isLeftOut(ruling)) return undefined
  const printer = createLogPrinter({ context, sender, rules: ofSender }, undefined, rowJson)
  const event = { event: log.event, params: log.params ?? {} }
  const { json } = finishRow({
    identity,
    context,
    others: printer.columns(event, undefined, ruling),
  })
  if (Buffer.byteLength(json) > limits.logBytes) {
    throw new IntakeError('body_too_large', `An event must not exceed ${limits.logBytes} bytes.`)
  }
  return json
}
