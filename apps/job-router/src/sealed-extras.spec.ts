import { ConfigReader } from '@berth/lifecycle';
import type { Job, JobKey, RawJson } from '@berth/domain';
import { SecretError, readSecretBox, type SecretBox } from '@berth/secrets';
import { freshKey, sampleJob } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { openExtras, sealExtras } from './sealed-extras.js';

const boxOf = (fill: number): SecretBox =>
  readSecretBox(new ConfigReader({ BERTH_SECRET_KEY: Buffer.alloc(32, fill).toString('base64') }));

const S3 = '{"s3Config":{ "accessSecret" : "hunter2", "n":1.0 }}' as RawJson;

const sealedJob = (key: JobKey, changes: Partial<Job> = {}): Job =>
  sampleJob(key, { extras: '{"a":[1, 2]}' as RawJson, sealedExtras: sealExtras(boxOf(1), key, S3), ...changes });

describe('members that rest encrypted', () => {
  test('come back as they came, beside the others', () => {
    expect(openExtras(boxOf(1), sealedJob(freshKey()))).toBe(
      '{"a":[1, 2],"s3Config":{ "accessSecret" : "hunter2", "n":1.0 }}',
    );
  });

  test('are nowhere in the record', () => {
    expect(JSON.stringify(sealedJob(freshKey()))).not.toContain('hunter2');
  });

  test('are not needed', () => {
    expect(openExtras(boxOf(1), sampleJob(freshKey()))).toBe('{}');
  });

  test('open for their own job and with their own key only', () => {
    const { sealedExtras } = sealedJob(freshKey());
    expect(() => openExtras(boxOf(1), sealedJob(freshKey(), { sealedExtras }))).toThrow(SecretError);
    expect(() => openExtras(boxOf(2), sealedJob(freshKey()))).toThrow(SecretError);
  });
});
