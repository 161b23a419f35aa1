// Starts the S3 server (s3-server.mjs), confined to its folder and port if the system supports it.
import { becomeConfinedNode } from '@intake/confinement/confined-node.mjs'
import { obstacles } from '@intake/confinement/landlock.mjs'
import { pathOf, program } from './program.mjs'

const { S3_DIRECTORY, S3_PORT } = process.env

if (obstacles().files === undefined) {
  becomeConfinedNode({
    script: pathOf('s3-server.mjs'),
    readable: program,
    writable: [S3_DIRECTORY],
    port: S3_PORT,
  })
} else await import('./s3-server.mjs')
