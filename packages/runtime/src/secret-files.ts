import { readFileSync } from 'node:fs'
import type { TObject } from 'typebox'

/** How a schema marks what must not be shown, and what it cannot express itself. */
export interface Traits {
  /** A secret. */
  writeOnly?: boolean
  /** A URL that may contain a user and a password. */
  hasCredentials?: boolean
  /** A running process follows its file. */
  isFollowed?: boolean
  /** Such URLs, separated by commas. */
  isUrlList?: boolean
  /**
   * What else is wrong with a value, one sentence each; never a part of it. At start the process checks this together
   * with its other settings; a new value from a file is checked by itself.
   */
  findProblems?: (value: string) => string[]
}

export const traitsOf = (schema: TObject, name: string): Traits => schema.properties[name] as Traits

type Env = Record<string, string | undefined>

/** The settings of a schema that a file may contain: `NAME_FILE` is then the path of the file. */
export function secretNames(schema: TObject): string[] {
  return Object.keys(schema.properties).filter((name) => {
    const { writeOnly, hasCredentials } = traitsOf(schema, name)
    // Some standard variables name a file themselves.
    const isOrHasFile = name.endsWith('_FILE') || `${name}_FILE` in schema.properties
    return (writeOnly ?? hasCredentials ?? false) && !isOrHasFile
  })
}

/** The path of the file with this setting; undefined: no file has it. */
export const secretFile = (env: Env, name: string): string | undefined =>
  env[`${name}_FILE`] || undefined

/** What is wrong with a file or its variable. Names both and no value. */
export class SecretFileError extends Error {
  override name = 'SecretFileError'
}

/**
 * A setting from the environment, or from the file that `NAME_FILE` names. Empty variables count as unset.
 *
 * @throws {SecretFileError} both are set, or the file cannot be read or is empty
 */
export function readSecret(env: Env, name: string): string | undefined {
  const file = secretFile(env, name)
  if (file === undefined) return env[name] || undefined
  if (env[name]) throw new SecretFileError(`${name} and ${name}_FILE must not both be set`)
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new SecretFileError(`${name}_FILE names a file that cannot be read (${code})`)
  }
  const value = withoutLineEnd(content)
  if (value === '') throw new SecretFileError(`${name}_FILE names a file that is empty`)
  return value
}

/** Editors and `echo` end a file with a line end that is not part of the secret. */
export const withoutLineEnd = (content: string): string => content.replace(/\r?\n$/, '')
