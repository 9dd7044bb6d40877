import { PassThrough } from 'node:stream';
import { PlatformError, encodeJson, type EndpointId } from '@berth/domain';
import type { LogEntry } from '@berth/endpoint-log';
import { ManualClock, SeededRandom, letRun } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { PacedOutput, type CommandStatus } from '../program/index.js';
import { showLog } from './show-log.js';
import { TextFormat } from './formats/text-format.js';

const NOW_MS = 1_800_000_000_000;
const NOBODY = { waitingNormal: 0, waitingLow: 0, oldestQueuedAtMs: null, running: 0, runningLow: 0, living: 0 };

/** Terms of owners who did nothing. */
const LOG = [1, 2, 3, 4].map((sequence): LogEntry => {
  const fact = { kind: 'opened', atMs: NOW_MS, term: sequence, routerId: `r${sequence}` };
  const facts = new TextEncoder().encode(encodeJson(fact));
  return { sequence, after: sequence - 1, batchId: `b${sequence}`, index: { ...NOBODY, dueAtMs: null }, facts };
});

/** What a broker shows, reading by reading: entries, and whether it fails behind them. */
type Shown = { readonly sequences: readonly number[]; readonly isFailing?: true };

const AWAY = new PlatformError('service-unavailable', 'away');

class Scene {
  readonly clock = new ManualClock(NOW_MS);
  readonly stream = new PassThrough({ highWaterMark: 16, encoding: 'utf8' });
  readonly asked: number[] = [];
  readonly given: number[] = [];
  readonly status: Promise<CommandStatus | Error>;

  constructor(readings: readonly Shown[]) {
    const { asked, clock, given, stream } = this;
    const left = [...readings];
    async function* read(_: EndpointId, after: number): AsyncGenerator<LogEntry> {
      asked.push(after);
      const { isFailing, sequences } = left.shift() ?? readings.at(-1) ?? { sequences: [] };
      for (const entry of LOG.filter(({ sequence }) => sequences.includes(sequence))) {
        given.push(entry.sequence);
        yield entry;
      }
      if (isFailing) throw AWAY;
    }
    const never = (): never => {
      throw new Error('it is read, and nothing else');
    };
    const broker = { read, readNext: never, inspect: never, removeEntry: never };
    const signal = new AbortController().signal;
    this.status = showLog({
      source: { endpointId: 'ep' as EndpointId, broker, clock, random: new SeededRandom(1), signal },
      format: new TextFormat({ jobId: null, hasPayloads: false }),
      output: new PacedOutput(stream, signal),
      ...{ after: 0, isFollowing: false, isFull: false },
    }).catch((error: Error) => error);
  }

  /** Lets pauses pass while somebody reads; then tells which batches were shown, and the verdict. */
  async told(): Promise<{ readonly shown: readonly string[]; readonly verdict: string | undefined }> {
    let text = '';
    this.stream.on('data', (chunk: string) => {
      text += chunk;
    });
    let isOver = false;
    void this.status.then(() => (isOver = true));
    for (let turns = 0; turns < 100 && !isOver; turns += 1) {
      await letRun();
      await this.clock.advance(1_000);
    }
    const lines = text.split('\n');
    return {
      shown: lines.filter((line) => line.startsWith('#')).map((line) => line.slice(0, 2)),
      verdict: lines.at(-2),
    };
  }
}

const ALL = { sequences: [1, 2, 3, 4] };

test('a log that somebody carries away meanwhile is read anew, and shown once', async () => {
  const scene = new Scene([{ sequences: [1, 2, 4] }, ALL]);
  expect(await scene.told()).toEqual({
    shown: ['#1', '#2', '#4'],
    verdict: expect.stringMatching(/^WHOLE: 4 batches/),
  });
  expect([await scene.status, scene.asked]).toEqual([0, [0, 0]]);
});

test('a gap that stays is one, after as many readings as owners make', async () => {
  const scene = new Scene([{ sequences: [1, 2, 4] }]);
  expect((await scene.told()).verdict).toBe('BROKEN: #4 follows #3, and #2 is what lies before it');
  expect([await scene.status, scene.asked.length]).toEqual([1, 8]);
});

test('what fails on the way is asked for again from where it was', async () => {
  const scene = new Scene([
    { sequences: [1, 2], isFailing: true },
    { sequences: [], isFailing: true },
    { sequences: [3, 4] },
  ]);
  expect((await scene.told()).shown).toEqual(['#1', '#2', '#3', '#4']);
  expect([await scene.status, scene.asked]).toEqual([0, [0, 2, 2]]);
});

test('a broker that stays away is told of', async () => {
  const scene = new Scene([{ sequences: [], isFailing: true }]);
  await scene.told();
  expect([await scene.status, scene.asked.length]).toEqual([AWAY, 8]);
});

test('no more is read than its reader takes', async () => {
  const scene = new Scene([ALL]);
  await letRun();
  expect(scene.given.length).toBeLessThan(3);
  expect((await scene.told()).shown).toHaveLength(4);
});
