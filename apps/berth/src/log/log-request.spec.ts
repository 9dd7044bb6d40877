import { describe, expect, test } from '@jest/globals';
import { CommandError, EXIT_STATUS } from '../program/index.js';
import { readLogRequest, type GivenWords } from './log-request.js';

const SHOW = {
  ...{ kind: 'show', endpointId: 'ep', jobId: null, after: 0 },
  ...{ isJson: false, isFollowing: false, hasPayloads: false },
};
const SKIP = { kind: 'skip', endpointId: 'ep', sequence: 12, isConfirmed: false, isJson: false };

const refusalOf = (given: GivenWords): CommandError => {
  try {
    readLogRequest(given);
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
  throw new Error('it was taken');
};

describe('what is asked of a log', () => {
  test.each([
    [{}, SHOW],
    [
      { job: 'j1', after: '12' },
      { ...SHOW, jobId: 'j1', after: 12 },
    ],
    [{ after: '#12' }, { ...SHOW, after: 12 }],
    [
      { json: true, follow: true, payloads: true },
      { ...SHOW, isJson: true, isFollowing: true, hasPayloads: true },
    ],
    [{ follow: false, check: false }, SHOW],
    [{ check: true }, { kind: 'check', endpointId: 'ep', isJson: false }],
    [
      { check: true, json: true },
      { kind: 'check', endpointId: 'ep', isJson: true },
    ],
    [{ skip: '#12' }, SKIP],
    [
      { skip: '12', json: true },
      { ...SKIP, isJson: true },
    ],
    [
      { skip: '12', confirm: '#12' },
      { ...SKIP, isConfirmed: true },
    ],
  ])('%j', (given, request) => {
    expect(readLogRequest({ endpoint: 'ep', ...given })).toEqual(request);
  });

  test.each([
    [{ job: ['a', 'b'] }, '--job is there twice.'],
    [{ follow: [true, true] }, '--follow is there twice.'],
    [{ job: 'a.b' }, 'The id of a job has letters, digits, "_" and "-" only, 128 at most.'],
    [{ job: '' }, 'The id of a job has letters, digits, "_" and "-" only, 128 at most.'],
    [{ after: 'x' }, '--after must be the sequence of a batch.'],
    [{ after: '' }, '--after must be the sequence of a batch.'],
    [{ skip: '0' }, '--skip must be the sequence of a batch.'],
    [{ skip: '1e3' }, '--skip must be the sequence of a batch.'],
    [{ skip: '9'.repeat(16) }, '--skip must be the sequence of a batch.'],
    [{ confirm: '1' }, '--confirm goes with --skip only.'],
    [{ skip: '1', confirm: '2' }, '--confirm names another sequence than --skip.'],
    [{ skip: '1', confirm: 'yes' }, '--confirm must be the sequence of a batch.'],
    [{ skip: '1', confirm: '1', follow: true }, '--skip does not go with --follow.'],
    [{ check: true, job: 'j', payloads: true }, '--check does not go with --job --payloads.'],
  ])('%j makes no sense, and says why', (given, why) => {
    const { message, status } = refusalOf({ endpoint: 'ep', ...given });
    expect([message, status]).toEqual([why, EXIT_STATUS.misused]);
  });

  test.each([
    ...['', 'a.b', 'a b', '*', '>', 'ep.>', '../ep', 'ep\n', 'ep\u0000', '\u001b[31mep', 'é', 'a'.repeat(129)],
  ])('%j names no endpoint, and is not repeated to the terminal', (endpoint) => {
    const { mend, message } = refusalOf({ endpoint });
    expect(`${message} ${mend}`).toBe(
      'The id of an endpoint has letters, digits, "_" and "-" only, 128 at most. Copy it as the API has it.',
    );
  });
});
