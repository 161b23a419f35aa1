/** The `api_key_id` of imported records, which came with no API key. */
export const importKeyId = 'import'
