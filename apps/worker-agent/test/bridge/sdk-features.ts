import { encodeJson } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import type { Ended } from './fake-router.js';
import { SdkWorker } from './sdk-worker.js';
import type { TestAgent } from './test-agent.js';

/** Empty: it works. Else how it differs, in words for the table of what works with which version. */
export type Finding = string;

export interface Feature {
  readonly id: string;
  /** For people: one row of the table. */
  readonly title: string;
  readonly handler: 'plain' | 'crowd' | 'stream' | 'aggregate';
  readonly check: (bench: FeatureBench) => Promise<Finding>;
}

const WAIT = { deadlineMs: 90_000, intervalMs: 50 };
const KILL_MS = 10_000;
/** What a busy machine may be late. */
const SLACK_MS = 5_000;
const LARGE_CHARACTERS = 3_200_000;

/** One worker process of one version of the SDK, at an endpoint of its own. */
export class FeatureBench {
  readonly agent: TestAgent;
  readonly worker: SdkWorker;

  private constructor(agent: TestAgent, worker: SdkWorker) {
    this.agent = agent;
    this.worker = worker;
  }

  static async start(agent: TestAgent, version: string, handler: Feature['handler']): Promise<FeatureBench> {
    const id = `${handler}${version.replaceAll('.', '')}`;
    const isAggregate = handler === 'aggregate';
    const env = isAggregate ? { AGGREGATE: '1' } : {};
    const options = { version, handler: isAggregate ? 'stream' : handler, env } as const;
    return new FeatureBench(agent, await SdkWorker.start(agent, id, options));
  }

  /** Resolves when the worker has asked for a job. */
  ready(): Promise<void> {
    return eventually(() => {
      const { workerId } = this.worker.registration;
      if (this.agent.bridge.state(workerId)?.hasPolled !== true) throw new Error(`${workerId}: ${this.worker.output}`);
    }, WAIT);
  }

  submit(input: object): string {
    return this.agent.router.submit({ input: encodeJson(input), endpointId: this.worker.registration.endpointId });
  }

  async run(input: object): Promise<Ended & { readonly jobId: string }> {
    const jobId = this.submit(input);
    return { jobId, ...(await this.endOf(jobId)) };
  }

  endOf(jobId: string): Promise<Ended> {
    return eventually(() => {
      const ended = this.agent.router.ended.get(jobId);
      if (ended === undefined) throw new Error(`${jobId} is ${this.agent.router.stateOf(jobId)}`);
      return ended;
    }, WAIT);
  }

  started(jobId: string): Promise<void> {
    return eventually(() => {
      const isStarted = this.agent.eventsOf('job-started').some((event) => event.jobId === jobId);
      if (!isStarted) throw new Error(`${jobId} has not started`);
    }, WAIT);
  }
}

/** Chunks as their consumer reads them. */
const outputsOf = ({ agent }: FeatureBench, jobId: string): readonly unknown[] =>
  agent.router.chunkTexts(jobId).map((text) => (JSON.parse(text) as { output: unknown }).output);

const unless = (isRight: boolean, how: () => string): Finding => (isRight ? '' : how());

const isSame = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);

/** What tells the kinds of an end apart, short enough for a table. */
const shown = ({ result, output }: Ended): string =>
  `${result.kind}: ${JSON.stringify({ result, output }).slice(0, 200)}`;

export const FEATURES: readonly Feature[] = [
  {
    id: 'plain',
    title: 'Handler that returns a value',
    handler: 'plain',
    check: async (bench) => {
      const input = { do: 'echo', text: 'ü', n: 1 };
      const ended = await bench.run(input);
      return unless(ended.result.kind === 'completed' && isSame(ended.output, { echo: input }), () => shown(ended));
    },
  },
  {
    id: 'error-raised',
    title: 'Exception: job is FAILED at once, with the traceback',
    handler: 'plain',
    check: async (bench) => {
      const ended = await bench.run({ do: 'raise' });
      const error = ended.result.kind === 'failed' ? ended.result.error : '';
      return unless(error.includes('raised on purpose') && error.includes('Traceback'), () => shown(ended));
    },
  },
  {
    id: 'error-returned',
    title: 'Returned `error`: job is FAILED at once, other members are its output',
    handler: 'plain',
    check: async (bench) => {
      const ended = await bench.run({ do: 'error' });
      const isRight = ended.result.kind === 'failed' && ended.result.error === 'told by the handler';
      return unless(isRight && isSame(ended.output, { detail: 7 }), () => shown(ended));
    },
  },
  {
    id: 'progress',
    title: '`progress_update` shows while the job runs',
    handler: 'plain',
    check: async (bench) => {
      const ended = await bench.run({ do: 'progress' });
      const steps = bench.agent.router.progress.get(ended.jobId) ?? [];
      const isRight = ended.output === 'after progress' && isSame(steps, [{ step: 0 }, { step: 1 }]);
      return unless(isRight, () => `${shown(ended)}, progress ${JSON.stringify(steps)}`);
    },
  },
  {
    id: 'large-output',
    title: 'Output above 5 MB',
    handler: 'plain',
    check: async (bench) => {
      const { output, result } = await bench.run({ do: 'large', characters: LARGE_CHARACTERS });
      return unless(output === 'é'.repeat(LARGE_CHARACTERS), () => result.kind);
    },
  },
  {
    id: 'generator',
    title: 'Generator: chunks in order, then the end',
    handler: 'stream',
    check: async (bench) => {
      const words = ['one', 'two', 'three'];
      const ended = await bench.run({ words });
      const isRight = isSame(outputsOf(bench, ended.jobId), words) && isSame(ended.output, []) && ended.chunks === 3;
      return unless(isRight, () => shown(ended));
    },
  },
  {
    id: 'generator-error',
    title: 'Exception in a generator: what was streamed stays, job is FAILED',
    handler: 'stream',
    check: async (bench) => {
      const ended = await bench.run({ words: ['one'], do: 'raise' });
      const isRight = isSame(outputsOf(bench, ended.jobId), ['one']) && ended.result.kind === 'failed';
      return unless(isRight, () => shown(ended));
    },
  },
  {
    id: 'large-chunk',
    title: 'Chunk above 1 MB is split',
    handler: 'stream',
    check: async (bench) => {
      const { jobId } = await bench.run({ do: 'large', characters: 700_000, items: 10 });
      const outputs = outputsOf(bench, jobId);
      const text = outputs.filter((output) => typeof output === 'string').join('');
      return unless(text === 'ä'.repeat(700_000) && outputs.length > 2, () => `${outputs.length} chunks`);
    },
  },
  {
    id: 'aggregate',
    title: '`return_aggregate_stream`: chunks, and all of them as the output',
    handler: 'aggregate',
    check: async (bench) => {
      const words = ['one', 'two'];
      const ended = await bench.run({ words });
      const isRight = isSame(outputsOf(bench, ended.jobId), words) && isSame(ended.output, words);
      return unless(isRight, () => shown(ended));
    },
  },
  {
    id: 'concurrency',
    title: 'Asynchronous handler with `concurrency_modifier`: jobs that wait start side by side',
    handler: 'crowd',
    check: async (bench) => {
      const jobs = [1, 2, 3].map((n) => bench.submit({ seconds: 8, until: 3, n }));
      const ends = await Promise.all(jobs.map((jobId) => bench.endOf(jobId)));
      const most = ends.map(({ output }) => (output as { most: number }).most);
      return unless(Math.max(...most) === 3, () => `at most ${Math.max(...most)} of 3 at the same time`);
    },
  },
  {
    id: 'concurrency-join',
    title: 'A job that comes later starts beside those that run',
    handler: 'crowd',
    check: async (bench) => {
      const first = bench.submit({ seconds: 6, until: 2 });
      await bench.started(first);
      const second = bench.submit({ seconds: 0.1 });
      const [one] = await Promise.all([bench.endOf(first), bench.endOf(second)]);
      return unless((one.output as { most: number }).most === 2, () => 'it starts when a running one has ended');
    },
  },
  {
    id: 'cancel',
    title: 'Cancel of a running asynchronous handler',
    handler: 'crowd',
    check: async (bench) => {
      const jobId = bench.submit({ seconds: 60 });
      await bench.started(jobId);
      const cancelledAtMs = systemClock.monotonicMs();
      bench.agent.router.cancel(jobId);
      return eventually(async () => {
        if (bench.agent.router.letGo.some((each) => each.jobId === jobId)) return '';
        const { workerId } = bench.worker.registration;
        if (!bench.agent.eventsOf('kill-needed').some((event) => event.workerId === workerId))
          throw new Error('neither');
        const afterMs = systemClock.monotonicMs() - cancelledAtMs;
        const isInTime = afterMs >= KILL_MS && afterMs < KILL_MS + SLACK_MS;
        return `no stop channel: its process is killed after ${isInTime ? '10 s' : `${afterMs} ms`}`;
      }, WAIT);
    },
  },
  {
    id: 'refresh',
    title: '`refresh_worker`: the result is kept, the worker is replaced',
    handler: 'plain',
    check: async (bench) => {
      const ended = await bench.run({ do: 'refresh' });
      const { workerId } = bench.worker.registration;
      await eventually(() => {
        const isAsked = bench.agent.eventsOf('recycle-wanted').some((event) => event.workerId === workerId);
        if (!isAsked) throw new Error('nobody asked for a new worker');
      }, WAIT);
      return unless(isSame(ended.output, { answer: 'then replace me' }), () => shown(ended));
    },
  },
];
