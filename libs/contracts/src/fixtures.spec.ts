import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import {
  OWNER_ANSWER_SHAPES,
  OWNER_QUESTION_SHAPES,
  apiKeySnapshotShape,
  assignmentSnapshotShape,
  endpointSnapshotShape,
  hostSnapshotShape,
  readChunkRequest,
  readDemandMessage,
  readDoneReply,
  readDoneRequest,
  readDownloadReply,
  readDownloadRequest,
  readEnd,
  readHistoryGetRequest,
  readHistoryListRequest,
  readHostReply,
  readJoin,
  readJoinReply,
  readPostedResult,
  readProgressRequest,
  readRates,
  readRenewReply,
  readRenewRequest,
  readReport,
  readReportReply,
  readRouterGone,
  readShape,
  readStopMessage,
  readTakeReply,
  readTakeRequest,
  readUploadRequest,
  readWireError,
  readWithdrawMessage,
  splitChunk,
  webhookSecretsSnapshotShape,
  type OwnerVerb,
  type Reading,
  type Shape,
  type SnapshotShape,
} from './index.js';

const FOLDER = resolve(import.meta.dirname, '../fixtures');

const snapshot =
  <Value>({ shape }: SnapshotShape<Value>) =>
  (body: unknown): unknown =>
    valueOf(readShape(shape, body));

const valueOf = (reading: Reading<unknown>): unknown => (reading.kind === 'value' ? reading.value : reading);

/** The ends of a request, each of which is read by itself. */
function readEnds(body: unknown): unknown {
  const ends = readDoneRequest(body);
  return ends.kind === 'unreadable' ? ends : { ends: ends.value.map((end) => valueOf(readEnd(end))) };
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

interface Reader {
  readonly read: (body: unknown) => unknown;
  /** What the reading has beside the message itself. */
  readonly adds?: object;
}

const READERS: Readonly<Record<string, Reader>> = {
  'join-request': { read: (body) => valueOf(readJoin(body)) },
  'join-reply': { read: (body) => valueOf(readJoinReply(body)) },
  'report-request': { read: (body) => valueOf(readReport(body)), adds: { dropped: null } },
  'host-reply': { read: (body) => valueOf(readHostReply(body)), adds: { faults: [], heldIds: [], isComplete: true } },
  'take-request': { read: (body) => valueOf(readTakeRequest(body)) },
  'take-reply': { read: readTakeReply },
  'withdraw-message': { read: (body) => valueOf(readWithdrawMessage(body)) },
  'renew-request': { read: (body) => valueOf(readRenewRequest(body)) },
  'renew-reply': { read: (body) => valueOf(readRenewReply(body)) },
  'chunk-request': { read: (body) => valueOf(readChunkRequest(body)) },
  'progress-request': { read: (body) => valueOf(readProgressRequest(body)) },
  'report-reply': { read: (body) => valueOf(readReportReply(body)) },
  'download-request': { read: (body) => valueOf(readDownloadRequest(body)) },
  'download-reply': { read: (body) => valueOf(readDownloadReply(body)) },
  'upload-request': { read: (body) => valueOf(readUploadRequest(body)) },
  'done-request': { read: readEnds },
  'done-reply': { read: readDoneReply },
  'stop-message': { read: readStopMessage },
  'router-gone': { read: readRouterGone },
  'wire-error': { read: (body) => valueOf(readWireError(body)) },
  'owner-questions': { read: readExamples(OWNER_QUESTION_SHAPES) },
  'owner-answers': { read: readExamples(OWNER_ANSWER_SHAPES) },
  'history-list-request': { read: (body) => valueOf(readHistoryListRequest(body)) },
  'history-get-request': { read: (body) => valueOf(readHistoryGetRequest(body)) },
  'demand-message': { read: (body) => valueOf(readDemandMessage(JSON.stringify(body))) },
  'witness-message': { read: (body) => valueOf(readDemandMessage(JSON.stringify(body))) },
  'rates-message': { read: (body) => valueOf(readRates(JSON.stringify(body))) },
  'endpoint-snapshot': { read: snapshot(endpointSnapshotShape) },
  'api-key-snapshot': { read: snapshot(apiKeySnapshotShape) },
  'host-snapshot': { read: snapshot(hostSnapshotShape) },
  'assignment-snapshot': { read: snapshot(assignmentSnapshotShape) },
  'webhook-secrets-snapshot': { read: snapshot(webhookSecretsSnapshotShape) },
};

/** What workers post is text, which is read as it stands. */
const POSTED: Readonly<Record<string, (posted: string) => unknown>> = {
  'posted-results': readPostedResult,
  'posted-chunks': (posted) => splitChunk(posted),
};

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

test('there is a fixture of every message that has a reader here', () => {
  expect(namesOf('v1').toSorted()).toEqual(Object.keys({ ...READERS, ...POSTED }).toSorted());
});

test.each(fixturesFor(READERS))(
  '$name of $version is read whole, also where a later version adds members',
  ({ name, version }) => {
    const body = fixtureOf(version, name) as object;
    const reader = READERS[name];
    const whole = { ...body, ...reader?.adds };
    expect(reader?.read(body)).toEqual(whole);
    expect(reader?.read({ ...body, addedLater: { deep: true } })).toMatchObject(whole);
  },
);

test.each(fixturesFor(POSTED))('$name of $version are read as they were', ({ name, version }) => {
  for (const { posted, read } of fixtureOf(version, name) as readonly { posted: string; read: unknown }[]) {
    expect(POSTED[name]?.(posted)).toEqual(read);
  }
});
