// The generator of TypeScript clients. It calls the JavaScript API of TypeScript, which TypeScript 7
// does not have, so this package brings TypeScript 6 for it.
export { createClient } from '@hey-api/openapi-ts'
