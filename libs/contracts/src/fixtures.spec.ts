import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readShape, type Reading, type Shape } from '@berth/domain/shape';
import { withMembersAdded } from '@berth/testing/contract';
import { expect, test } from '@jest/globals';
import * as contracts from './index.js';
import type { OwnerVerb, SnapshotShape } from './index.js';

const FOLDER = resolve(import.meta.dirname, '../fixtures');

const valueOf = (reading: Reading<unknown>): unknown => (reading.kind === 'value' ? reading.value : reading);

/** The ends of a request, each of which is read by itself. */
function readEnds(body: unknown): unknown {
  const ends = contracts.readDoneRequest(body);
  return ends.kind === 'unreadable' ? ends : { ends: ends.value.map((end) => valueOf(contracts.readEnd(end))) };
}

/** Several examples of each verb. */
function readExamples(shapes: Readonly<Record<OwnerVerb, Shape>>) {
  return (body: unknown): unknown =>
    Object.fromEntries(
      Object.entries(shapes).map(([verb, shape]) => {
        const examples = (body as Readonly<Record<string, readonly unknown[]>>)[verb] ?? [];
        expect(examples).not.toHaveLength(0);
        return [verb, examples.map((example) => valueOf(readShape(shape, example)))];
      }),
    );
}

function readFacts(body: unknown): unknown {
  const { facts } = body as { readonly facts: Parameters<typeof contracts.readHistoryFacts>[0] };
  return { facts: valueOf(contracts.readHistoryFacts(facts)) };
}

type Name = keyof typeof contracts;

interface Reader {
  /** Names under which the package exports what reads the message. */
  readonly by: Name | readonly Name[];
  /** Unless what `by` names is a function of the body, or a shape. */
  readonly read?: (body: unknown) => unknown;
  /** It is read as the text that it comes as. */
  readonly isText?: boolean;
  /** What the reading has beside the message itself. */
  readonly adds?: object;
}

const READERS: Readonly<Record<string, Reader>> = {
  'join-request': { by: 'readJoin' },
  'join-frame': { by: 'readJoinFrame' },
  'join-reply': { by: 'readJoinReply' },
  'report-request': { by: 'readReport', adds: { dropped: null } },
  'report-frame': { by: 'readReportFrame' },
  'host-reply': { by: 'readHostReply', adds: { faults: [], heldIds: [], isComplete: true } },
  'take-request': { by: 'readTakeRequest' },
  'take-reply': { by: 'readTakeReply' },
  'withdraw-message': { by: 'readWithdrawMessage' },
  'renew-request': { by: 'readRenewRequest' },
  'renew-reply': { by: 'readRenewReply' },
  'chunk-request': { by: 'readChunkRequest' },
  'progress-request': { by: 'readProgressRequest' },
  'report-reply': { by: 'readReportReply' },
  'download-request': { by: 'readDownloadRequest' },
  'download-reply': { by: 'readDownloadReply' },
  'upload-request': { by: 'readUploadRequest' },
  'done-request': { by: ['readDoneRequest', 'readEnd'], read: readEnds },
  'done-reply': { by: 'readDoneReply' },
  'stop-message': { by: 'readStopMessage' },
  'wake-message': { by: 'readWakeMessage' },
  'logs-request': { by: 'readLogsRequest' },
  'logs-reply': { by: 'readLogsReply' },
  'router-gone': { by: 'readRouterGone' },
  'tunnel-offer': { by: 'readTunnelOffer' },
  'wire-error': { by: 'readWireError' },
  'owner-questions': { by: 'OWNER_QUESTION_SHAPES', read: readExamples(contracts.OWNER_QUESTION_SHAPES) },
  'owner-answers': { by: 'OWNER_ANSWER_SHAPES', read: readExamples(contracts.OWNER_ANSWER_SHAPES) },
  'history-list-request': { by: 'readHistoryListRequest' },
  'history-list-reply': { by: 'readHistoryList' },
  'history-get-request': { by: 'readHistoryGetRequest' },
  'history-get-reply': { by: 'readHistoryJob' },
  'history-read': { by: 'readHistoryRead', isText: true },
  'history-facts': { by: 'readHistoryFacts', read: readFacts },
  'demand-message': { by: 'readDemandMessage', isText: true },
  'witness-message': { by: 'readDemandMessage', isText: true },
  'rates-message': { by: 'readRates', isText: true },
  'request-counts-message': { by: 'readRequestCounts', isText: true },
  'endpoint-snapshot': { by: 'endpointSnapshotShape' },
  'api-key-snapshot': { by: 'apiKeySnapshotShape' },
  'host-snapshot': { by: 'hostSnapshotShape' },
  'assignment-snapshot': { by: 'assignmentSnapshotShape' },
  'webhook-secrets-snapshot': { by: 'webhookSecretsSnapshotShape' },
};

function readBy({ by, isText = false, read }: Reader, body: unknown): unknown {
  if (read !== undefined) return read(body);
  const reader = contracts[[by].flat()[0] as Name] as SnapshotShape<unknown> | ((body: unknown) => unknown);
  if (typeof reader === 'object') return valueOf(readShape(reader.shape, body));
  const result = reader(isText ? JSON.stringify(body) : body);
  return isReading(result) ? valueOf(result) : result;
}

const isReading = (result: unknown): result is Reading<unknown> =>
  result !== null && typeof result === 'object' && 'kind' in result && 'value' in result;

/** They read any message, or what others here read too, in another form. */
const TOOLS: readonly Name[] = ['readJson', 'readOversized', 'readPostedBytes', 'splitChunkBytes'];

/** What workers post is text, which is read as it stands. */
const POSTED = {
  'posted-results': { by: 'readPostedResult', read: contracts.readPostedResult },
  'posted-chunks': { by: 'splitChunk', read: (posted: string) => contracts.splitChunk(posted) },
} as const;

/** In them any name is that of a member. */
const MAPS = ['env'];

const versions = readdirSync(FOLDER);
const namesOf = (version: string): readonly string[] =>
  readdirSync(join(FOLDER, version), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name.replace('.json', ''));
const fixtureOf = (version: string, name: string): unknown =>
  JSON.parse(readFileSync(join(FOLDER, version, `${name}.json`), 'utf8'));
const fixturesFor = (readers: object): readonly { readonly version: string; readonly name: string }[] =>
  versions.flatMap((version) =>
    namesOf(version)
      .filter((name) => name in readers)
      .map((name) => ({ version, name })),
  );

test('everything that the package exports to read messages reads a fixture here', () => {
  const exported = Object.keys(contracts).filter((name) => /^(read|split)[A-Z]|Shape$|_SHAPES$/.test(name));
  const readers = [...Object.values(READERS), ...Object.values(POSTED)].flatMap(({ by }) => by);
  expect(exported.toSorted()).toEqual([...new Set([...readers, ...TOOLS])].toSorted());
});

test('there is a fixture of every message that has a reader here', () => {
  expect(namesOf('v1').toSorted()).toEqual(Object.keys({ ...READERS, ...POSTED }).toSorted());
});

test.each(fixturesFor(READERS))(
  '$name of $version is read whole, also where a later version adds members',
  ({ name, version }) => {
    const body = fixtureOf(version, name) as object;
    const reader = READERS[name] as Reader;
    const whole = { ...body, ...reader.adds };
    expect(readBy(reader, body)).toEqual(whole);
    for (const { body: later, path } of withMembersAdded(body, MAPS)) {
      expect({ path, read: readBy(reader, later) }).toMatchObject({ path, read: whole });
    }
  },
);

test.each(fixturesFor(POSTED))('$name of $version are read as they were', ({ name, version }) => {
  for (const { posted, read } of fixtureOf(version, name) as readonly { posted: string; read: unknown }[]) {
    expect(POSTED[name as keyof typeof POSTED].read(posted)).toEqual(read);
  }
});
