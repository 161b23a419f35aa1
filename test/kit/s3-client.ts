import { Client } from 'minio'

/** Creates a client for the S3 server at a URL that contains the access key. */
export function s3Client(url: string): Client {
  const { hostname, port, username, password } = new URL(url)
  return new Client({
    endPoint: hostname,
    port: Number(port),
    useSSL: false,
    accessKey: username,
    secretKey: password,
    region: 'us-east-1',
  })
}
