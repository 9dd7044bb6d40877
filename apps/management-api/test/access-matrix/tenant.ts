import type { AccountId, ClusterId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { Database } from '../../src/persistence/database.js';
import { ClustersStore } from '../../src/clusters/clusters.store.js';
import { PodsStore } from '../../src/pods/pods.store.js';
import { QUEUE_ENDPOINT, type ManagementBench } from '../management-bench.js';
import { sampleCluster, samplePod } from '../pod-samples.js';

/** Everything that has an id, by the owner that its ids have. */
export const OWNED = [
  'api key',
  'cluster',
  'endpoint',
  'network volume',
  'pod',
  'registry',
  'template',
  'worker',
] as const;
const OPERATED = ['account', 'host'] as const;
const COMMON = ['CPU flavor', 'GPU type', 'data center', 'problem'] as const;

export type Owned = (typeof OWNED)[number];
type Made = Owned | (typeof OPERATED)[number];
type Common = (typeof COMMON)[number];
export type Resource = Made | Common;

/** What everybody finds. */
const COMMON_IDS: Readonly<Record<Common, string>> = {
  'CPU flavor': 'cpu3c',
  'GPU type': encodeURIComponent('NVIDIA L4'),
  'data center': 'EU-RO-1',
  problem: 'endpoint-not-found',
};

const isMade = (resource: Resource): resource is Made => !COMMON.some((each) => each === resource);

export const isOwned = (resource: Resource): resource is Owned => OWNED.some((each) => each === resource);

const ID_LENGTH = 14;

/** An id that nobody has, of the form that ids have. */
export const absentId = (): string => systemRandom.id(ID_LENGTH);

/** One account with one of everything. Whatever it names has its mark in the name, so that it is known anywhere. */
export class Tenant {
  readonly accountId: string;
  /** Reaches all of the account. */
  readonly key: string;
  readonly mark: string;
  readonly #bench: ManagementBench;
  readonly #ids = new Map<Resource, string>();

  private constructor(bench: ManagementBench, { accountId, key, mark }: Pick<Tenant, 'accountId' | 'key' | 'mark'>) {
    this.#bench = bench;
    this.accountId = accountId;
    this.key = key;
    this.mark = mark;
  }

  static async open(bench: ManagementBench, mark: string): Promise<Tenant> {
    const { body } = await bench.call('POST /v2/accounts', { body: { name: `${mark}-account` } });
    return Tenant.#fill(new Tenant(bench, { accountId: body.id as string, key: body.apiKey.key as string, mark }));
  }

  /** The operator's own account, whose key has every scope. */
  static openOperators(bench: ManagementBench, mark: string): Promise<Tenant> {
    return Tenant.#fill(new Tenant(bench, { accountId: 'default', key: bench.operatorKey, mark }));
  }

  static async #fill(tenant: Tenant): Promise<Tenant> {
    for (const resource of [...OPERATED, ...OWNED]) tenant.#ids.set(resource, await tenant.make(resource));
    return tenant;
  }

  /** The one that was there from the start. */
  id(resource: Resource): string {
    const id = this.#ids.get(resource) ?? COMMON_IDS[resource as Common];
    if (id === undefined) throw new Error(`no ${resource}`);
    return id;
  }

  /** One more. @returns its id */
  make(resource: Resource): Promise<string> {
    const makers: Readonly<Record<Made, () => Promise<string>>> = {
      account: () => this.#create('accounts', { name: this.mark }, this.#bench.operatorKey),
      host: () => this.#invite(),
      'api key': () => this.#create('api-keys', { name: `${this.mark}-key`, preset: 'read-only' }),
      endpoint: () => this.#create('serverless', this.endpointBody()),
      'network volume': () => this.#create('network-volumes', this.volumeBody()),
      registry: () => this.#create('registries', this.registryBody()),
      template: () => this.#create('templates', this.templateBody()),
      cluster: () => this.#insertCluster(),
      pod: () => this.#insertPod(null),
      worker: () => this.#insertWorker(),
    };
    if (!isMade(resource)) throw new Error(`nobody makes a ${resource}`);
    return makers[resource]();
  }

  endpointBody(): object {
    return {
      ...QUEUE_ENDPOINT,
      name: `${this.mark}-endpoint`,
      image: `registry.example.com/${this.mark}:1`,
      env: { HF_TOKEN: `${this.mark}-secret`, MODEL: `${this.mark}-model` },
    };
  }

  templateBody(): object {
    return {
      name: `${this.mark}-template`,
      image: `registry.example.com/${this.mark}:2`,
      env: { HF_TOKEN: `${this.mark}-secret` },
      serverless: true,
    };
  }

  registryBody(): object {
    return { name: `${this.mark}-registry`, username: `${this.mark}-user`, password: `${this.mark}-password` };
  }

  volumeBody(): object {
    return { name: `${this.mark}-volume`, size: 10, dataCenter: `${this.mark}-place` };
  }

  async #create(collection: string, body: object, key = this.key): Promise<string> {
    const answer = await this.#bench.call(`POST /v2/${collection}`, { body, key });
    if (answer.status !== 201) throw new Error(`POST ${collection}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.id as string;
  }

  async #invite(): Promise<string> {
    const { body } = await this.#bench.call('POST /v2/hosts/join-tokens', { body: { name: this.mark } });
    return body.hostId as string;
  }

  async #insertCluster(): Promise<string> {
    const id = absentId();
    const accountId = this.accountId as AccountId;
    const cluster = sampleCluster(id, { accountId, name: `${this.mark}-cluster` });
    await new ClustersStore(new Database(this.#bench.source)).insert(cluster);
    await this.#insertPod(id);
    return id;
  }

  /** @param clusterId null: a pod on its own */
  async #insertPod(clusterId: string | null): Promise<string> {
    const id = absentId();
    const env = { TOKEN: `${this.mark}-secret` };
    const pod = samplePod(id, {
      accountId: this.accountId as AccountId,
      name: `${this.mark}-pod`,
      container: { image: `${this.mark}/pod`, args: '', diskGb: 20, env, ports: [], registryId: null },
      status: 'EXITED',
      membership: clusterId === null ? null : { clusterId: clusterId as ClusterId, rank: null, ip: null, role: null },
    });
    await new PodsStore(new Database(this.#bench.source)).insert(pod);
    return id;
  }

  async #insertWorker(): Promise<string> {
    const id = absentId();
    const resources = { vcpus: 2, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 };
    const observed = { phase: 'idle', reason: `${this.mark}-reason`, startedAtMs: null, gpuTypeId: null };
    await this.#bench.source.query(
      `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources, observed)
       VALUES ($1, $2, $3, 1, 'running', $4, $5)`,
      [id, this.id('endpoint'), this.id('host'), JSON.stringify(resources), JSON.stringify(observed)],
    );
    const outcome = { created: 1, drained: 0, resumed: 0, forgotten: 0, unplaced: 0, unplacedReason: null };
    await this.#bench.source.query(
      `INSERT INTO scaling_decisions (endpoint_id, ordinal, at, desired_before, desired, reason, detail, inputs, outcome)
       VALUES ($1, 1, now(), 0, 1, 'demand', $2, '{"demand": null, "workers": {}}', $3)
       ON CONFLICT DO NOTHING`,
      [this.id('endpoint'), `${this.mark}-detail`, JSON.stringify(outcome)],
    );
    await this.#bench.source.query(
      `INSERT INTO usage_hours (account_id, hour, endpoint_id, gpu_type_id, worker_ms, gpu_ms, paused_worker_ms, paused_gpu_ms)
       VALUES ($1, date_trunc('hour', now(), 'UTC'), $2, $3, 1, 1, 0, 0) ON CONFLICT DO NOTHING`,
      [this.accountId, this.id('endpoint'), `${this.mark}-gpu`],
    );
    return id;
  }
}
