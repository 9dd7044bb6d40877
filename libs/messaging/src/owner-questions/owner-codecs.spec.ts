import type { NoticeMessage, OwnerReply, OwnerVerb } from '@berth/contracts';
import type { CommandOutcome, EndpointId, JobId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { encodeNotice, readNotice } from './notice-codec.js';
import { encodeOwnerQuestion, readOwnerQuestion } from './owner-question-codec.js';
import { encodeOwnerReply, readOwnerReply } from './owner-reply-codec.js';

const endpointId = 'ep-1' as EndpointId;
const jobId = 'job-1' as JobId;

describe('a question', () => {
  const asked = { endpointId, question: { jobId, watcher: null } };

  test('is read as it was asked, from text and from bytes', () => {
    const text = encodeOwnerQuestion(asked);
    expect(readOwnerQuestion(text)).toEqual({ kind: 'value', value: asked });
    expect(readOwnerQuestion(Buffer.from(text))).toEqual({ kind: 'value', value: asked });
  });

  test.each([
    ['{', 'it is no JSON'],
    ['null', '$ must be an object'],
    [JSON.stringify({ v: 2, body: asked }), '$.v is not version 1'],
    [JSON.stringify({ v: 1 }), '$.body must be an object'],
    [JSON.stringify({ v: 1, body: { ...asked, endpointId: 'a.b' } }), '$.body.endpointId must be an id'],
    [JSON.stringify({ v: 1, body: { ...asked, question: 'why' } }), '$.body.question must be an object'],
  ])('is none where it is %s', (text, reason) => {
    expect(readOwnerQuestion(text)).toEqual({ kind: 'unreadable', reason });
  });
});

const outcome = (answer: CommandOutcome): [OwnerVerb, unknown] => ['perform', answer];

const refusal: CommandOutcome = {
  kind: 'refused',
  reason: 'no-job',
  code: 'job-not-found',
  detail: 'No such job.',
  retryAfterMs: null,
};

describe('a reply', () => {
  test.each<[OwnerVerb, unknown]>([
    outcome({ kind: 'accepted', jobIds: [jobId], isReplayed: false }),
    outcome(refusal),
    outcome({ kind: 'dropped' }),
    outcome({ kind: 'purged', removed: 3 }),
    outcome({ kind: 'job', jobId, state: 'CANCELLED' }),
    ['find', null],
    ['list', { entries: [], through: null }],
    ['deliveries', []],
    ['renew', ['renewed', 'lost']],
    ['hold', { kind: 'full', limit: 'chunkBytes', maxBytes: 5 }],
    ['hold', { kind: 'full', limit: 'chunkRoom', maxBytes: 5 }],
    ['take-back', { kind: 'superseded' }],
    ['withdraw', null],
  ])('to %s is read as it was given: %j', (verb, answer) => {
    const reply = { kind: 'answer', answer } as OwnerReply<never>;
    expect(readOwnerReply(verb, encodeOwnerReply(reply))).toEqual({ kind: 'value', value: reply });
  });

  test.each(['busy', 'full', 'stopped'] as const)('that is %s is read whatever was asked', (reason) => {
    const reply = { kind: 'refused', reason } as const;
    expect(readOwnerReply('take', encodeOwnerReply(reply))).toEqual({ kind: 'value', value: reply });
  });

  test.each<[OwnerVerb, unknown, string]>([
    ['find', { v: 1, result: { kind: 'answer' } }, '$.result.answer must be an object'],
    ['find', { v: 7, result: { kind: 'answer', answer: null } }, '$.v is not version 1'],
    ['find', { v: 1, error: {} }, '$.result must be an object'],
    ['find', { v: 1, result: { kind: 'refused', reason: 'no' } }, '$.result.reason must be one of busy, full, stopped'],
    ['find', { v: 1, result: { kind: 'toString' } }, '$.result.kind must be one of answer, refused'],
    [
      'perform',
      answered({ kind: 'accepted', jobIds: ['a b'], isReplayed: false }),
      '$.result.answer.jobIds[0] must be an id',
    ],
    ['perform', answered({ kind: 'job', jobId, state: 'GONE' }), expect.stringMatching(/answer\.state must be one of/)],
    ['list', answered({ through: null }), '$.result.answer.entries must be a list'],
    ['take', answered(null), '$.result.answer must be a list'],
  ] as [OwnerVerb, unknown, string][])('to %s is none where it is %j', (verb, value, reason) => {
    expect(readOwnerReply(verb, JSON.stringify(value))).toEqual({ kind: 'unreadable', reason });
  });

  test('of a word that only a later version knows is none', () => {
    const later = JSON.stringify(answered({ kind: 'teleported' }));
    expect(readOwnerReply('perform', later)).toMatchObject({ kind: 'unreadable' });
  });
});

function answered(answer: unknown): object {
  return { v: 1, result: { kind: 'answer', answer } };
}

describe('a notice', () => {
  const told: NoticeMessage = { endpointId, jobs: [{ jobId, now: 'ended' }] };

  test('is read as it was told', () => {
    expect(readNotice(encodeNotice(told))).toEqual({ kind: 'value', value: told });
  });

  test.each([
    [
      { v: 1, body: { ...told, jobs: [{ jobId, now: 'soon' }] } },
      '$.body.jobs[0].now must be one of moved, ended, gone',
    ],
    [{ v: 1, body: { ...told, jobs: [null] } }, '$.body.jobs[0] must be an object'],
    [{ v: 3, body: told }, '$.v is not version 1'],
  ])('is none where it is %j', (value, reason) => {
    expect(readNotice(JSON.stringify(value))).toEqual({ kind: 'unreadable', reason });
  });
});
