// Starts the S3 server (s3-server.mjs), confined to its folder and port if the system supports it.
import { obstacles } from './landlock.mjs'
import { becomeConfinedNode } from './confined-node.mjs'

const { S3_DIRECTORY, S3_PORT } = process.env

if (obstacles().files === undefined) {
  becomeConfinedNode({ script: 's3-server.mjs', args: [], writable: [S3_DIRECTORY], port: S3_PORT })
} else await import('./s3-server.mjs')
