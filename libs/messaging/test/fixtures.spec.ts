import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Reading } from '@berth/domain/shape';
import { decodeLines } from '@berth/endpoint-log';
import { withMembersAdded } from '@berth/testing/contract';
import { expect, test } from '@jest/globals';
import { readClaim, readPresence } from '../src/endpoint-log/shard-claim-codec.js';
import { readNotice } from '../src/owner-questions/notice-codec.js';
import { readOwnerQuestion } from '../src/owner-questions/owner-question-codec.js';
import { readOwnerReply } from '../src/owner-questions/owner-reply-codec.js';
import { readReaderCursor } from '../src/reader-cursors/reader-cursor-codec.js';

const FOLDER = resolve(import.meta.dirname, '../../contracts/fixtures');
const SOURCES = resolve(import.meta.dirname, '../src');

interface Reader {
  readonly read: (body: Uint8Array) => unknown;
  /** The part of the message that its reader hands out. */
  readonly part: (body: never) => unknown;
}

const bytesOf = (body: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(body));
const valueOf = (reading: Reading<unknown>): unknown => (reading.kind === 'value' ? reading.value : reading);
const bodyOf = ({ body }: { readonly body: unknown }): unknown => body;
const resultOf = ({ result }: { readonly result: unknown }): unknown => result;
const withoutVersion = ({ v: _, ...rest }: { readonly v: number }): unknown => rest;

function readFacts(body: Uint8Array): unknown {
  const { facts } = JSON.parse(new TextDecoder().decode(body)) as { readonly facts: readonly unknown[] };
  return decodeLines(new TextEncoder().encode(facts.map((fact) => JSON.stringify(fact)).join('\n')));
}

const READERS: Readonly<Record<string, Reader>> = {
  'log-facts': { read: readFacts, part: ({ facts }: { readonly facts: unknown }) => facts },
  notice: { read: (body) => valueOf(readNotice(body)), part: bodyOf },
  'owner-question': { read: (body) => valueOf(readOwnerQuestion(body)), part: bodyOf },
  'owner-refusal': { read: (body) => valueOf(readOwnerReply('renew', body)), part: resultOf },
  'owner-reply': { read: (body) => valueOf(readOwnerReply('renew', body)), part: resultOf },
  'reader-cursor': { read: (body) => valueOf(readReaderCursor(body)), part: withoutVersion },
  'router-presence': { read: (body) => valueOf(readPresence(body)), part: withoutVersion },
  'shard-claim': { read: (body) => valueOf(readClaim(body)), part: withoutVersion },
};

const fixtures = readdirSync(FOLDER).flatMap((version) =>
  readdirSync(join(FOLDER, version, 'broker')).map((file) => ({
    version,
    name: file.replace('.json', ''),
    body: JSON.parse(readFileSync(join(FOLDER, version, 'broker', file), 'utf8')) as object,
  })),
);

/** Their values have fixtures of their own: bodies of the buckets, and batches, whose lines are `log-facts`. */
const WITHOUT_FIXTURE = ['log-batch-codec.ts', 'snapshot-codec.ts', 'wire-codec.ts'];

test('there is a fixture of what each codec writes', () => {
  expect(fixtures.filter(({ version }) => version === 'v1').map(({ name }) => name)).toEqual(Object.keys(READERS));
  const codecs = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('-codec.ts'))
    .map((path) => path.replace(/^.*\//, ''));
  const imported = readFileSync(import.meta.filename, 'utf8').matchAll(/\/([a-z-]+-codec)\.js'/g);
  const read = [...imported].map(([, name]) => `${name ?? ''}.ts`);
  expect([...new Set([...read, ...WITHOUT_FIXTURE])].toSorted()).toEqual(codecs.toSorted());
});

test.each(fixtures)('$name of $version is read, also where a later version adds members', ({ body, name }) => {
  const reader = READERS[name] as Reader;
  const part = reader.part(body as never);
  expect(reader.read(bytesOf(body))).toEqual(part);
  for (const { body: later, path } of withMembersAdded(body)) {
    expect({ path, read: reader.read(bytesOf(later)) }).toMatchObject({ path, read: part });
  }
});
