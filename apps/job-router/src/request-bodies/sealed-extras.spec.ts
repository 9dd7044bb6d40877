import { ConfigReader } from '@berth/lifecycle';
import type { JobKey, RawJson } from '@berth/domain';
import { SecretError, readSecretBox, type SecretBox } from '@berth/secrets';
import { freshKey } from '@berth/testing/conformance';
import { describe, expect, test } from '@jest/globals';
import { openExtras, sealExtras } from './sealed-extras.js';

const boxOf = (fill: number): SecretBox =>
  readSecretBox(new ConfigReader({ BERTH_SECRET_KEY: Buffer.alloc(32, fill).toString('base64') }));

const S3 = '{"s3Config":{ "accessSecret" : "hunter2", "n":1.0 }}' as RawJson;

const sealedBody = (key: JobKey, sealedExtras: string | null = sealExtras(boxOf(1), key, S3)) => ({
  extras: '{"a":[1, 2]}' as RawJson,
  sealedExtras,
});

describe('members that rest encrypted', () => {
  test('come back as they came, beside the others', () => {
    const key = freshKey();
    expect(openExtras(boxOf(1), key, sealedBody(key))).toBe(
      '{"a":[1, 2],"s3Config":{ "accessSecret" : "hunter2", "n":1.0 }}',
    );
  });

  test('are nowhere in the log', () => {
    expect(JSON.stringify(sealedBody(freshKey()))).not.toContain('hunter2');
  });

  test('are not needed', () => {
    const key = freshKey();
    expect(openExtras(boxOf(1), key, sealedBody(key, null))).toBe('{"a":[1, 2]}');
  });

  test('open for their own job and with their own key only', () => {
    const key = freshKey();
    const body = sealedBody(key);
    expect(() => openExtras(boxOf(1), freshKey(), body)).toThrow(SecretError);
    expect(() => openExtras(boxOf(2), key, body)).toThrow(SecretError);
  });
});
