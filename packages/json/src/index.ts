export { checkJson } from './check-json.ts'
export { countNodes } from './count-nodes.ts'
export { parseLossless, printLossless } from './lossless-json.ts'
export {
  countParsed,
  decodeJson,
  exactJson,
  type ParsedJson,
  parseJson,
  parseText,
  smallJsonBytes,
} from './parse-json.ts'
export { escapedSurrogate, type PrintJson, rowJson, wellFormed } from './row-json.ts'
