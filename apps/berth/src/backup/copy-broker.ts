import type { Clock, Random } from '@berth/lifecycle';
import {
  CLAIMS_STREAM,
  COPIED_LOGS,
  COPIED_PAYLOADS,
  copyLog,
  copyStream,
  NatsShardClaims,
  readStreamHead,
  type Broker,
} from '@berth/messaging';
import { CommandError } from '../program/index.js';
import type { ArchiveWriter } from './archive-writer.js';
import { streamFolder, type BackupEnd, type CopiedStream } from './backup-format.js';

export interface BrokerCopy {
  readonly broker: Broker;
  readonly archive: ArchiveWriter;
  readonly clock: Clock;
  readonly random: Random;
  readonly note: (line: string) => void;
}

/** The broker's part of a backup. */
export type CopiedBroker = Pick<BackupEnd, 'streams' | 'terms'>;

const ATTEMPTS_MAX = 40;
const PAUSE_MS = 500;
const PAUSE_MAX_MS = 5_000;

/**
 * Logs first, then what lies beside them, for a fact names what was stored before it; then the terms, for a log knows of no
 * term that the claims do not know of.
 */
export async function copyBroker(copy: BrokerCopy): Promise<CopiedBroker> {
  const streams: CopiedStream[] = [];
  for (const stream of COPIED_LOGS) streams.push(...(await copyWholeLog(copy, stream)));
  copy.note(`copied the logs of endpoints: ${sizeOf(streams)}`);
  const payloads: CopiedStream[] = [];
  for (const stream of COPIED_PAYLOADS) payloads.push(...(await copyPayloads(copy, stream)));
  copy.note(`copied payloads and chunks: ${sizeOf(payloads)}`);
  return { streams: [...streams, ...payloads], terms: await readTerms(copy.broker) };
}

/** A shard from which something was removed meanwhile is copied once more. */
async function copyWholeLog(copy: BrokerCopy, stream: string): Promise<readonly CopiedStream[]> {
  const { broker, clock, random } = copy;
  const head = await readStreamHead(broker, stream);
  if (head === null) return [];
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const pieces = copy.archive.pieces(streamFolder(stream, attempt));
    const copied = await copyLog({ broker, clock, stream, onPiece: (piece) => pieces.write(piece) });
    await pieces.end();
    if (copied === null) return [];
    const { isWhole, ...state } = copied;
    if (isWhole) return [{ name: stream, attempt, state, created: head.created }];
    await clock.sleep(Math.min(PAUSE_MAX_MS, PAUSE_MS * attempt) * (1 + random.fraction()));
  }
  throw new CommandError(
    `${stream} could not be copied: at each of ${String(ATTEMPTS_MAX)} tries something was removed.`,
    {
      mend: 'Run the backup again when fewer jobs end.',
    },
  );
}

async function copyPayloads(copy: BrokerCopy, stream: string): Promise<readonly CopiedStream[]> {
  const { broker, clock } = copy;
  const head = await readStreamHead(broker, stream);
  if (head === null) return [];
  const pieces = copy.archive.pieces(streamFolder(stream, 1));
  const state = await copyStream({ broker, clock, stream, onPiece: (piece) => pieces.write(piece) });
  await pieces.end();
  return state === null ? [] : [{ name: stream, attempt: 1, state, created: head.created }];
}

async function readTerms(broker: Broker): Promise<Record<string, number>> {
  if ((await readStreamHead(broker, CLAIMS_STREAM)) === null) return {};
  const { claims } = await new NatsShardClaims(broker).survey();
  return Object.fromEntries([...claims].map(([shard, { value }]) => [String(shard), value.term]));
}

function sizeOf(streams: readonly CopiedStream[]): string {
  const messages = streams.reduce((sum, { state }) => sum + state.messages, 0);
  const bytes = streams.reduce((sum, { state }) => sum + state.bytes, 0);
  return `${String(messages)} messages, ${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
