/**
 * Returns a handler for a rejected file operation. It returns `preset` if the file does not exist,
 * and throws any other error.
 */
export const orIfAbsent =
  <Preset>(preset: Preset) =>
  (error: NodeJS.ErrnoException): Preset => {
    // ENOTDIR means that a part of the path is a file, not a directory, so no record is stored
    // there.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return preset
    throw error
  }
