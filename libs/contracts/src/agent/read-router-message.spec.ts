import { expect, test } from '@jest/globals';
import { readStopMessage } from './read-router-message.js';

const job = { endpointId: 'e', jobId: 'j', attempt: 1, token: 't', reason: 'cancelled' };

test('a stop that cannot be read keeps none beside it from being heard', () => {
  const entries = [null, 5, {}, { ...job, jobId: ['j'] }, { ...job, attempt: -1 }, job, { ...job, token: 7 }];
  expect(readStopMessage({ jobs: entries })).toEqual({ jobs: [job] });
});

test.each([null, undefined, 5, 'jobs', [], {}, { jobs: null }, { jobs: {} }])('%j stops nothing', (body) => {
  expect(readStopMessage(body)).toEqual({ jobs: [] });
});
