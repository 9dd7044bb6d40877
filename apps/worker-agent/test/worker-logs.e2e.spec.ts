import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { logAnswerSubject, logsSubject, readLogsReply, type WorkerLogPage, type LogsRequest } from '@berth/contracts';
import { requireRead } from '@berth/domain/shape';
import type { EndpointId, HostId, LogLine, WorkerId } from '@berth/domain';
import { AgentQuestions } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { TEST_TIMEOUT_MS, exampleWorker, useAgents } from './agent-bench.js';
import type { AgentProgram } from './agent-program.js';
import { W1 } from './worker-bench.js';

const WORKERS = fileURLToPath(new URL('workers', import.meta.url));
const SLOW = { deadlineMs: 90_000 };
const HOST = 'host1' as HostId;
const ENDPOINT = 'endpoint1' as EndpointId;

const bench = useAgents();
const { control, endOf, phase, submit } = bench;
let questions: AgentQuestions;
let asked = 0;

beforeEach(async () => {
  asked += 1;
  const connection = await bench.connect();
  questions = new AgentQuestions({ connection, answers: logAnswerSubject('*', `asker${String(asked)}`) });
  await connection.flush();
});

const startAgent = (): AgentProgram =>
  bench.start({ BERTH_RUNTIME: 'process', BERTH_IMAGES: WORKERS, BERTH_KEEP_WORKERS: 'true' });
const talker = () => exampleWorker(W1, 'local/talker');

async function ask(after: number | null, more: Partial<LogsRequest> = {}): Promise<WorkerLogPage> {
  const cursors = [{ workerId: W1, after }];
  const body: LogsRequest = { endpointId: ENDPOINT, cursors, maxBytes: 65_536, waitMs: 2_000, ...more };
  const { signal } = new AbortController();
  const answersAt = logAnswerSubject(HOST, `asker${String(asked)}`);
  const reply = await questions.ask({ subject: logsSubject(HOST), answersAt, body, timeoutMs: 10_000, signal });
  const [page] = requireRead(readLogsReply(reply)).pages;
  if (page === undefined) throw new Error('no page came');
  return page;
}

/** Reads on until `isEnough`, over whatever happens to the agent. */
async function readUntil(told: LogLine[], isEnough: () => boolean): Promise<WorkerLogPage> {
  return eventually(async () => {
    const page = await ask(told.at(-1)?.sequence ?? 0);
    told.push(...page.lines);
    if (!isEnough()) throw new Error(`only ${String(told.length)} lines: ${JSON.stringify(told.slice(-5))}`);
    return page;
  }, SLOW);
}

const textsOf = (lines: readonly LogLine[], source: LogLine['source']): readonly string[] =>
  lines.filter((line) => line.source === source).map(({ line }) => line);
const countsOf = (lines: readonly LogLine[]): readonly number[] =>
  textsOf(lines, 'container').flatMap((line) => (line.startsWith('count ') ? [Number(line.slice(6))] : []));

describe("a worker's log", () => {
  test(
    'is whole over a restart of its agent: nothing is lost, and nothing is told twice',
    async () => {
      const first = startAgent();
      control.desired = [talker()];
      const told: LogLine[] = [];
      await readUntil(told, () => countsOf(told).length > 40);
      await first.end('SIGKILL');
      startAgent();
      const before = countsOf(told).length;
      await readUntil(told, () => countsOf(told).length > before + 60);
      const counts = countsOf(told);
      expect(counts).toEqual(counts.map((_, index) => index + 1));
      expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, index) => index + 1));
      expect(textsOf(told, 'system').slice(0, 3)).toEqual([
        'preparing: the image is being prepared',
        'starting: the container is being started',
        'starting: the worker has not asked for a job yet',
      ]);
      // What was told can be told again, from anywhere.
      const again = await ask(told[10]?.sequence ?? 0, { maxBytes: 2_000, source: 'container' });
      expect(again.lines).toEqual(
        told
          .slice(11)
          .filter(({ source }) => source === 'container')
          .slice(0, again.lines.length),
      );
      const tail = await ask(null, { tail: 3, source: 'container' });
      expect(countsOf(tail.lines).length).toBeGreaterThanOrEqual(3);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'knows the lines of a job, tells its end after its last line, and stays when the worker is gone, until its endpoint is',
    async () => {
      const agent = startAgent();
      control.desired = [talker()];
      await phase(W1, 'idle');
      const jobId = submit({ question: 42 });
      await endOf(jobId);
      const ofJob = await ask(null, { jobId });
      expect(ofJob.lines.map(({ line }) => line)).toEqual(
        expect.arrayContaining(['work on {"question":42}', expect.stringContaining('as an SDK says it')]),
      );
      control.desired = [{ ...talker(), intent: 'drained' }];
      await phase(W1, 'removed');
      control.desired = [];
      const told: LogLine[] = [];
      const last = await readUntil(told, () => textsOf(told, 'system').includes('removed'));
      const ends = told.slice(told.findIndex(({ line }) => line === 'last words'));
      expect(ends.map(({ line }) => line)).toEqual(['last words', 'the container has ended with code 0', 'removed']);
      await eventually(async () => expect((await ask(last.next)).state).toBe('ended'), SLOW);
      expect(agent.output).toContain('worker ended');
      expect(await readdir(join(bench.home, 'worker-logs'))).toEqual([W1]);
      await agent.end('SIGTERM');

      control.deletedEndpointIds = [ENDPOINT];
      startAgent();
      await eventually(async () => expect(await readdir(join(bench.home, 'worker-logs'))).toEqual([]), SLOW);
      expect(await ask(0)).toMatchObject({ state: 'unknown', lines: [] });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'is told to nobody who asks for it as another endpoint’s',
    async () => {
      startAgent();
      control.desired = [talker()];
      await phase(W1, 'idle');
      expect(await ask(0, { endpointId: 'endpoint2' as EndpointId })).toMatchObject({ lines: [] });
      expect(await ask(0, { cursors: [{ workerId: 'nobody' as WorkerId, after: 0 }] })).toMatchObject({
        state: 'unknown',
      });
    },
    TEST_TIMEOUT_MS,
  );
});
