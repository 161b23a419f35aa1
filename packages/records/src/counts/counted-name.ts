/** Names that apps choose are shorter; values as names may not be. */
const bytesMax = 255

/** SQL for a name as it is counted. A long one is cut, so that it uses up no memory. */
export const countedName = (name: string) =>
  `if(length(${name}) <= ${bytesMax}, ${name}, concat(substringUTF8(${name}, 1, 100), '… ', hex(sipHash64(${name}))))`
