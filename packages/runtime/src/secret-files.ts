import { readFileSync } from 'node:fs'
import type { TObject } from 'typebox'

/** Annotations of a setting's schema. */
export interface Traits {
  writeOnly?: boolean
  /** The value is a URL that may contain a user and a password. */
  hasCredentials?: boolean
  /** Whether a running process uses a new value when the setting's file changes. */
  isFollowed?: boolean
  /** The value is a list of URLs, separated by commas. Each may contain a user and a password. */
  isUrlList?: boolean
  /** Further problems of a value, one sentence each, without any part of it. */
  findProblems?: (value: string) => string[]
}

export const traitsOf = (schema: TObject, name: string): Traits => schema.properties[name] as Traits

type Env = Record<string, string | undefined>

/** The settings whose value can be in the file that the variable `NAME_FILE` names. */
export function secretNames(schema: TObject): string[] {
  return Object.keys(schema.properties).filter((name) => {
    const { writeOnly, hasCredentials } = traitsOf(schema, name)
    // Not paths of files, nor settings for which the schema already has `NAME_FILE`, such as
    // `AWS_CONTAINER_AUTHORIZATION_TOKEN`.
    const isOrHasFile = name.endsWith('_FILE') || `${name}_FILE` in schema.properties
    return (writeOnly ?? hasCredentials ?? false) && !isOrHasFile
  })
}

/** Undefined if the setting is not given by a file. */
export const secretFile = (env: Env, name: string): string | undefined =>
  env[`${name}_FILE`] || undefined

/** The message names the file and its variable, but quotes no value. */
export class SecretFileError extends Error {
  override name = 'SecretFileError'
}

/**
 * Reads a setting from the environment or its file. Empty variables count as unset.
 *
 * @throws {SecretFileError} if both are set, or the file cannot be read or is empty
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

/** Removes the line end that editors and `echo` add, because it is not part of the secret. */
export const withoutLineEnd = (content: string): string => content.replace(/\r?\n$/, '')
