// The generator of TypeScript clients. It calls TypeScript's JavaScript API, which TypeScript 7
// does not have. So the dependencies of this package include TypeScript 6.
export { createClient } from '@hey-api/openapi-ts'
