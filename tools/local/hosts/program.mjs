import { fileURLToPath } from 'node:url'

/** The absolute path of a file of this folder. */
export const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url))

/** The files that the engines need besides Node's own. */
export const program = [pathOf('..'), pathOf('../../../node_modules')]
