import { Writable } from 'node:stream';
import type { AssignmentSnapshot, AttemptRef, EndpointSnapshot, HostSnapshot, NoticeMessage } from '@berth/contracts';
import {
  encodeJson,
  type EndpointId,
  type HostId,
  type JobBody,
  type JobData,
  type JobWish,
  type WorkerId,
} from '@berth/domain';
import type { Blobs, Chunks } from '@berth/payloads';
import { ConfigReader } from '@berth/lifecycle';
import { readSecretBox, type SecretBox } from '@berth/secrets';
import { MetricRegistry, NO_TRACES, createLogger } from '@berth/telemetry';
import { ManualClock, SeededRandom } from '@berth/testing';
import { ModelPayloads } from '@berth/testing/payloads';
import { AttemptOwners } from '../../src/agents/attempts/attempt-owners.js';
import { gatewayMetrics } from '../../src/agents/metrics.js';
import { EndpointDirectory } from '../../src/directory/endpoint-directory.js';
import type { ControlPlaneSnapshots, Snapshots } from '../../src/directory/snapshots.port.js';
import { ModelOwners } from './model-owners.js';

export const ENDPOINT = 'ep' as EndpointId;
export const HOST = 'h' as HostId;
export const WORKER = 'w' as WorkerId;

export const boxOf = (fill: number): SecretBox =>
  readSecretBox(new ConfigReader({ BERTH_SECRET_KEY: Buffer.alloc(32, fill).toString('base64') }));

class MapSnapshots<Snapshot> extends Map<string, Snapshot> implements Snapshots<Snapshot> {
  async fetch(key: string): Promise<Snapshot | null> {
    return this.get(key) ?? null;
  }
}

/** What the control plane has told. */
class ToldSnapshots implements ControlPlaneSnapshots {
  readonly endpoints = new MapSnapshots<EndpointSnapshot>();
  readonly apiKeys = new MapSnapshots<never>();
  readonly hosts = new MapSnapshots<HostSnapshot>();
  readonly assignments = new MapSnapshots<AssignmentSnapshot>();
}

/** Everything that the agents' gateway stands on, with one placed worker. */
export class AgentsScene {
  readonly clock = new ManualClock(1_800_000_000_000);
  readonly random = new SeededRandom(3);
  readonly owners = new ModelOwners(this.clock);
  readonly attempts = new AttemptOwners(this.owners);
  readonly snapshots = new ToldSnapshots();
  readonly directory = new EndpointDirectory({ snapshots: this.snapshots, clock: this.clock });
  readonly registry = new MetricRegistry();
  readonly metrics = gatewayMetrics(this.registry);
  /** Lines of the log. */
  readonly logged: object[] = [];
  readonly #output = new Writable({
    write: (line: Buffer, _, done) => {
      this.logged.push(JSON.parse(line.toString()) as object);
      done();
    },
  });
  readonly logger = createLogger({ name: 'test', level: 'debug', format: 'json', output: this.#output });
  readonly traces = NO_TRACES;
  readonly told: { readonly routers: readonly string[]; readonly notice: NoticeMessage }[] = [];
  readonly notices = {
    tell: (routers: readonly string[], notice: NoticeMessage): void => {
      this.told.push({ routers, notice });
    },
  };
  readonly blobs: Blobs;
  readonly chunks: Chunks;
  #jobs = 0;

  constructor() {
    const payloads = new ModelPayloads(this.clock);
    this.blobs = payloads.blobs;
    this.chunks = payloads.chunks;
    this.place(ENDPOINT);
    this.snapshots.hosts.set(HOST, { id: HOST, isDraining: false });
  }

  place(endpointId: EndpointId, { isDraining = false }: { readonly isDraining?: boolean } = {}): void {
    const endpoint = { id: endpointId, accountId: 'a', type: 'QUEUE', executionTimeoutMs: 300_000, workersMax: 3 };
    this.snapshots.endpoints.set(endpointId, { ...endpoint, isDeleted: false } as never);
    const worker = { id: WORKER, hostId: HOST, phase: 'idle', isDraining } as never;
    this.snapshots.assignments.set(endpointId, { endpointId, workers: [worker] });
  }

  submit(body: Partial<JobBody> = {}, endpointId = ENDPOINT): string {
    this.#jobs += 1;
    const jobId = `j${this.#jobs}`;
    const plain = { input: { kind: 'inline', json: encodeJson({}) }, extras: encodeJson({}) } as const;
    const whole: JobBody = { ...plain, sealedExtras: null, traceparent: null, ...body };
    const job: JobWish = {
      ...{ jobId: jobId as never, origin: 'run', retentionMs: 60_000, executionTimeoutMs: 600_000 },
      ...{ isLowPriority: false, webhook: null, bodyBytes: 2, ttlMs: 3_600_000, body: whole },
    };
    const command = { kind: 'submit', sentAtMs: this.clock.nowMs(), jobs: [job], key: null } as const;
    const { kind } = this.owners.perform(endpointId, command);
    if (kind !== 'accepted') throw new Error(kind);
    return jobId;
  }

  /** A job in the hands of the worker. */
  take(body: Partial<JobBody> = {}, endpointId = ENDPOINT): AttemptRef {
    const jobId = this.submit(body, endpointId);
    const takeId = `take-${jobId}`;
    const wish = { takeId, hostId: HOST, workerId: WORKER, slots: 1, secret: takeId };
    this.owners.perform(endpointId, { kind: 'take', sentAtMs: this.clock.nowMs(), wishes: [wish] });
    const { attempt = 0, current } = this.job({ endpointId, jobId } as AttemptRef) ?? {};
    return { endpointId, jobId: jobId as never, attempt, token: current?.token ?? '' };
  }

  job({ endpointId, jobId }: Pick<AttemptRef, 'endpointId' | 'jobId'>): JobData | undefined {
    return this.owners.job(endpointId, jobId);
  }

  /** The value of a metric with these labels; 0 where it was never counted. */
  async count(
    name: Exclude<keyof AgentsScene['metrics'], 'delay'>,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const { values } = await this.metrics[name].get();
    const isMeant = (each: { labels: object }): boolean =>
      Object.entries(labels).every(([label, value]) => (each.labels as Record<string, unknown>)[label] === value);
    return values.filter(isMeant).reduce((sum, { value }) => sum + value, 0);
  }
}
