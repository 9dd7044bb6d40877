import { expect, test } from '@jest/globals';
import type { EndpointId, JobId } from '../ids.js';
import { signatureHeader, signedPrefix, webhookMessageId } from './signature.js';

const KEY = { endpointId: 'ep' as EndpointId, jobId: 'b0e-1' as JobId, attempt: 2 };

test('the id names one end of a job and has no dot, which separates what is signed', () => {
  expect(webhookMessageId(KEY)).toBe('msg_b0e-1_2');
  expect(signedPrefix(webhookMessageId(KEY), 1_750_000_000)).toBe('msg_b0e-1_2.1750000000.');
});

test('each signature names its scheme, several stand beside one another', () => {
  expect(signatureHeader(['YQ=='])).toBe('v1,YQ==');
  expect(signatureHeader(['YQ==', 'Yg=='])).toBe('v1,YQ== v1,Yg==');
});
