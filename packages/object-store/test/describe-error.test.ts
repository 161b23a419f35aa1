import { S3Error } from 'minio'
import t from 'tap'
import { describeStoreError } from '../src/index.ts'

const refusal = (code: string | undefined) => Object.assign(new S3Error('no'), { code })

t.test('an error of the store is described by its code, if it has one', async (t) => {
  t.equal(describeStoreError(refusal('NoSuchBucket')), 'the bucket does not exist')
  t.equal(describeStoreError(refusal('Other')), 'the store responds with Other')
  for (const code of ['', undefined]) {
    t.equal(describeStoreError(refusal(code)), 'the store refuses, without a code')
  }
})
