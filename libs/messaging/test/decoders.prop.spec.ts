import {
  apiKeySnapshotShape,
  assignmentSnapshotShape,
  endpointSnapshotShape,
  hostSnapshotShape,
  webhookSecretsSnapshotShape,
  type OwnerVerb,
} from '@berth/contracts';
import type { Reading } from '@berth/domain/shape';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readNotice } from '../src/owner-questions/notice-codec.js';
import { readOwnerQuestion } from '../src/owner-questions/owner-question-codec.js';
import { readOwnerReply } from '../src/owner-questions/owner-reply-codec.js';
import { readReaderCursor } from '../src/reader-cursors/reader-cursor-codec.js';
import { decodeSnapshot, snapshotCodec } from '../src/snapshots/snapshot-codec.js';
import { logSubject, parseLogSubject } from '../src/topology/subjects.js';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const SNAPSHOTS = [
  snapshotCodec(endpointSnapshotShape),
  snapshotCodec(apiKeySnapshotShape),
  snapshotCodec(hostSnapshotShape),
  snapshotCodec(assignmentSnapshotShape),
  snapshotCodec(webhookSecretsSnapshotShape),
];

const OWNER_VERBS: readonly OwnerVerb[] = ['perform', 'find', 'list', 'deliveries', 'take', 'renew', 'hold'];

/** Everything that turns a body into a value, under one signature. */
const DECODERS: Readonly<Record<string, (body: Uint8Array, key: string) => readonly Reading<unknown>[]>> = {
  snapshot: (body, key) => SNAPSHOTS.map((codec) => decodeSnapshot<unknown>(codec as never, key, body)),
  'reader cursor': (body) => [readReaderCursor(body)],
  notice: (body) => [readNotice(body)],
  'owner question': (body) => [readOwnerQuestion(body)],
  'owner reply': (body) => OWNER_VERBS.map((verb) => readOwnerReply(verb, body)),
};

const json = fc.jsonValue().map((value) => JSON.stringify(value));
const enveloped = fc
  .jsonValue()
  .map((value) => JSON.stringify({ v: 1, value, body: value, result: value, ...(value as object) }));
const bodies: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  json.map(bytesOf),
  enveloped.map(bytesOf),
  fc.tuple(json, json).map(([first, second]) => bytesOf(`${first}\n${second}`)),
);
const keys = fc.oneof(fc.string(), fc.stringMatching(/^[a-z]{1,8}$/));

describe('whatever somebody wrote', () => {
  test.each(Object.entries(DECODERS))('is a value of its kind or has a reason: %s', (_, decode) => {
    fc.assert(
      fc.property(bodies, keys, (body, key) => {
        for (const reading of decode(body, key)) {
          if (reading.kind === 'value') expect(reading.value).toBeInstanceOf(Object);
          else expect(reading.reason).not.toBe('');
        }
      }),
    );
  });

  test('is as a subject the log of an endpoint that lies there, or none', () => {
    const tokens = fc.array(fc.oneof(fc.constantFrom('log', '0', '1', '15', ''), fc.string()), { maxLength: 4 });
    fc.assert(
      fc.property(tokens, (parts) => {
        const subject = parts.join('.');
        const endpointId = parseLogSubject(subject);
        if (endpointId !== null) expect([endpointId, logSubject(endpointId)]).toEqual([parts.at(-1), subject]);
      }),
    );
  });
});
