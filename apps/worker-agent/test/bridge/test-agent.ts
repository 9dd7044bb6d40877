import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { EndpointId, WorkerId } from '@berth/domain';
import { systemRandom, type Clock, type ThreadProgram } from '@berth/lifecycle';
import { MetricRegistry, RecordedTraces, createLogger, type Span } from '@berth/telemetry';
import type { BodyBounds, BridgeEvent, WorkerRegistration } from '../../src/bridge/bridge.port.js';
import { WorkerBridge } from '../../src/bridge/worker-bridge.js';
import { JobClient } from '../../src/job-client/job-client.js';
import type { WorkerShare } from '../../src/job-client/attempts/worker-shares.js';
import { Journal, type JournalOptions } from '../../src/journal/journal.js';
import { ManualClock } from '@berth/testing';
import { SOURCE_THREAD } from './body-threads.js';
import { FakeRouter } from './fake-router.js';

const STEP_MS = 250;

/** The parts of an agent that stand between routers and workers, on a folder that outlives a crash. */
export class TestAgent {
  readonly clock: Clock;
  readonly router: FakeRouter;
  readonly events: BridgeEvent[] = [];
  journal!: Journal;
  client!: JobClient;
  bridge!: WorkerBridge;
  metrics!: MetricRegistry;
  folder = '';
  /** What every worker wrote last. */
  workerLog: readonly string[] = [];
  journalOptions: Partial<JournalOptions> = {};
  bodyBounds: Partial<BodyBounds> = {};
  bodyThread: ThreadProgram = SOURCE_THREAD;
  share: WorkerShare | null = null;
  /** Steps of recorded traces that are over. */
  readonly spans: Span[] = [];
  /** Lines of the log. */
  readonly logged: object[] = [];
  readonly #output = new Writable({
    write: (line: Buffer, _, done) => {
      this.logged.push(JSON.parse(line.toString()) as object);
      done();
    },
  });
  readonly #log = createLogger({ name: 'test', level: 'debug', format: 'json', output: this.#output });

  constructor(clock: Clock) {
    this.clock = clock;
    this.router = new FakeRouter(clock);
  }

  static async start(clock: Clock): Promise<TestAgent> {
    const agent = new TestAgent(clock);
    agent.folder = await mkdtemp(join(tmpdir(), 'berth-agent-'));
    await agent.open(0);
    await agent.bridge.restore([]);
    return agent;
  }

  /**
   * Lets `ms` pass on the manual clock in small steps, and all that is due be written: commits are acknowledged in
   * their order, so one more tells that those before it are done.
   */
  async pass(ms: number): Promise<void> {
    if (!(this.clock instanceof ManualClock)) throw new Error('only a manual clock can be moved');
    for (let left = ms; left > 0; left -= STEP_MS) {
      await this.clock.advance(Math.min(left, STEP_MS));
      await this.settle();
    }
  }

  async settle(): Promise<void> {
    for (let round = 0; round < 3; round += 1) await this.journal.put([{ key: 'settled', value: round }]);
  }

  /** A new process on the same folder; calls wait until `bridge.restore`. */
  async open(...ports: readonly number[]): Promise<void> {
    const { clock, router } = this;
    this.metrics = new MetricRegistry();
    const shared = { clock, random: systemRandom, metrics: this.metrics, log: this.#log };
    this.journal = await Journal.open({ folder: this.folder, random: systemRandom, ...this.journalOptions });
    this.client = new JobClient({
      ...shared,
      traces: new RecordedTraces({ sink: (span) => this.spans.push(span), clock, random: systemRandom, permille: 0 }),
      link: router,
      journal: this.journal,
      ...(this.share === null ? {} : { share: this.share }),
    });
    const address = { listenHost: '127.0.0.1', listenPorts: ports, advertisedHost: '127.0.0.1' };
    const bodies = { workerBytesMax: 80 * 2 ** 20, hostBytesMax: 512 * 2 ** 20, ...this.bodyBounds };
    const logTail = async (): Promise<readonly string[]> => this.workerLog;
    const { client, bodyThread } = this;
    this.bridge = await WorkerBridge.open({ ...shared, ...address, client, bodies, bodyThread, logTail });
    this.bridge.subscribe((event) => this.events.push(event));
  }

  /** Ends the process as a kill would: what comes next sees the disk as it is at this instant. */
  async crash(): Promise<number> {
    const left = await mkdtemp(join(tmpdir(), 'berth-agent-'));
    await cp(this.folder, left, { recursive: true });
    const port = await this.#end();
    await rm(this.folder, { recursive: true, force: true });
    this.folder = left;
    return port;
  }

  async #end(): Promise<number> {
    const { port } = this.bridge;
    await this.client.stop(0);
    await this.bridge.close();
    await this.journal.close();
    return port;
  }

  async close(): Promise<void> {
    await this.#end();
    this.router.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  eventsOf<Kind extends BridgeEvent['kind']>(kind: Kind): readonly (BridgeEvent & { readonly kind: Kind })[] {
    return this.events.filter((event): event is BridgeEvent & { readonly kind: Kind } => event.kind === kind);
  }

  async metric(line: string): Promise<number> {
    const found = (await this.metrics.text()).split('\n').find((each) => each.startsWith(`${line} `));
    return found === undefined ? 0 : Number(found.slice(line.length + 1));
  }
}

export function registration(id: string, more: Partial<WorkerRegistration> = {}): WorkerRegistration {
  return {
    workerId: id as WorkerId,
    endpointId: 'ep1' as EndpointId,
    endpointType: 'QUEUE',
    token: `token-of-${id}-0123456789abcdef`,
    facts: {
      gpuTypeId: null,
      gpuCount: 0,
      gpuPool: null,
      vcpus: 4,
      memoryBytes: 16 * 2 ** 30,
      dataCenterId: 'dc1',
      volumeId: null,
      env: {},
    },
    ...more,
  };
}
