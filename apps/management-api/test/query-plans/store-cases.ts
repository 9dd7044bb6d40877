import { logShard } from '@berth/messaging';
import { systemClock } from '@berth/lifecycle';
import type { Caller } from '@berth/http';
import type {
  AccountId,
  ClusterId,
  DecisionRecord,
  Endpoint,
  EndpointId,
  HistoryRow,
  HostId,
  JobId,
  PodId,
  WorkerId,
} from '@berth/domain';
import { expect } from '@jest/globals';
import type { DataSource } from 'typeorm';
import type { Database } from '../../src/persistence/database.js';
import { AccountUseStore } from '../../src/accounts/account-use.store.js';
import { AccountsStore } from '../../src/accounts/accounts.store.js';
import { ApiKeysStore } from '../../src/api-keys/api-keys.store.js';
import { AuditStore } from '../../src/audit/audit.store.js';
import { ClustersStore } from '../../src/clusters/clusters.store.js';
import { EndpointsStore } from '../../src/endpoints/endpoints.store.js';
import { FleetStore } from '../../src/reconcilers/fleet.store.js';
import { HostLoadsStore } from '../../src/catalog/host-loads.store.js';
import { HostSessionsStore } from '../../src/host-sessions/host-sessions.store.js';
import { ImagesAheadStore } from '../../src/host-sessions/images-ahead.store.js';
import { HostsStore } from '../../src/hosts/hosts.store.js';
import { IdempotencyKeysStore } from '../../src/idempotency/idempotency-keys.store.js';
import { JobHistoryStore } from '../../src/job-history/job-history.store.js';
import { LeaderLease } from '../../src/leadership/leader-lease.js';
import { RunningCatalogsStore } from '../../src/catalog-file/running-catalogs.store.js';
import { DeletedVolumesStore } from '../../src/network-volumes/deleted-volumes.store.js';
import { LogPlacesStore } from '../../src/worker-logs/log-places.store.js';
import { NetworkVolumesStore } from '../../src/network-volumes/network-volumes.store.js';
import { PodsStore } from '../../src/pods/pods.store.js';
import { RateWindowsStore } from '../../src/rate-limits/rate-windows.store.js';
import { ReferencesStore } from '../../src/references/references.store.js';
import { RegistriesStore } from '../../src/registries/registries.store.js';
import { ReleasesStore } from '../../src/releases/releases.store.js';
import { SnapshotOutboxStore } from '../../src/snapshots/snapshot-outbox.store.js';
import { apiKeyTruth, endpointTruth, hostTruth } from '../../src/snapshots/snapshot-truths.js';
import { sealedPlaces } from '../../src/sealing/sealed-places.js';
import { ScalingHistoryStore } from '../../src/scaling-history/scaling-history.store.js';
import { UsageReportStore } from '../../src/usage/usage-report.store.js';
import { UsageStore } from '../../src/usage/usage.store.js';
import { TemplatesStore } from '../../src/templates/templates.store.js';
import { WebhookSecretTruth } from '../../src/snapshots/webhook-secret-truth.js';
import { WebhookSecretsStore } from '../../src/webhook-secrets/webhook-secrets.store.js';
import { WorkersStore } from '../../src/workers/workers.store.js';
import { INVENTORY, SPEC, observed } from '../fleet-bench.js';
import { GREAT_ACCOUNT, GREAT_ENDPOINT, HOST, SMALL_ACCOUNT, SMALL_ENDPOINT } from './big-database.js';
import { changeSeal, endpointSeals, envSeal, secretBox } from '../secret-box.js';

/** Big tables that a call may read whole, each with the reason why that is right. */
type Reads = Readonly<Record<string, string>>;

type Case<Store> = ((store: Store) => Promise<unknown>) & { readonly reads?: Reads };

/** Every method of a store that sends statements: one that is missing here does not compile. */
type CasesOf<Store> = {
  readonly [
    Method in keyof Store as Store[Method] extends (...input: never[]) => Promise<unknown> ? Method : never
  ]: readonly Case<Store>[];
};

/** One call of one method. */
export interface StoreCase {
  readonly name: string;
  readonly call: () => Promise<unknown>;
  readonly reads: Reads;
}

const reading = <Store>(reads: Reads, call: (store: Store) => Promise<unknown>): Case<Store> =>
  Object.assign(call, { reads });

const casesOf = <Store>(name: string, store: Store, cases: CasesOf<Store>): readonly StoreCase[] =>
  Object.entries<readonly Case<Store>[]>(cases).flatMap(([method, calls]) =>
    calls.map((call, index) => ({
      name: `${name}.${method} ${String(index + 1)}`,
      call: () => call(store),
      reads: call.reads ?? {},
    })),
  );

const NOW_MS = systemClock.nowMs();
const DAY_MS = 24 * 3_600_000;
const HASH = 'a'.repeat(64);
const LIMIT = 100;
const EACH_PASS = 'each pass looks at all of them';
const ITS_OWN = 'half of the rows are its own, and are the answer';

const CALLER: Caller = { keyId: 'k1', accountId: SMALL_ACCOUNT, scopes: [], endpointIds: null, expiresAtMs: null };
const ENDPOINT: Endpoint = {
  id: 'new' as EndpointId,
  accountId: SMALL_ACCOUNT,
  spec: { ...SPEC, networkVolumeIds: ['v1'] },
  release: 1,
  version: 1,
  createdAtMs: NOW_MS,
};
const KEY = {
  id: 'new',
  accountId: SMALL_ACCOUNT,
  prefix: 'newprefix',
  hash: HASH,
  scopes: ['serverless:read'],
  endpointIds: null,
  expiresAtMs: null,
} as const;
const WEBHOOK_SECRET = {
  endpointId: SMALL_ENDPOINT,
  ordinal: 2,
  sealedSecret: 'v1.00000000.sealed',
  createdAtMs: NOW_MS,
  expiresAtMs: null,
};
const RELEASE = { diff: [], createdBy: 'k1', createdAtMs: NOW_MS };
const ACCOUNT = { id: SMALL_ACCOUNT, name: 'new', limits: { endpoints: 7 }, version: 2, createdAtMs: NOW_MS };
const TODAY_MS = Math.floor(NOW_MS / DAY_MS) * DAY_MS;
const USAGE_REPORT = {
  ...{ accountId: GREAT_ACCOUNT, endpointIds: null, startMs: TODAY_MS - 7 * DAY_MS, endMs: TODAY_MS + DAY_MS },
  ...{ bucketMs: DAY_MS / 24, isByEndpoint: true, isByGpuType: false, after: null, limit: LIMIT },
};
const RESOURCES = { vcpus: 2, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 };

/** What a request does. */
const requestCases = (database: Database): readonly StoreCase[] => [
  ...casesOf('AccountsStore', new AccountsStore(database), {
    insert: [
      (accounts) =>
        accounts.insert(
          { ...ACCOUNT, id: 'new' as AccountId },
          { name: 'first', snapshot: { ...KEY, accountId: 'new' as AccountId } },
        ),
    ],
    list: [(accounts) => accounts.list()],
    find: [(accounts) => accounts.find(SMALL_ACCOUNT)],
    lock: [
      (accounts) => accounts.lock(SMALL_ACCOUNT, 'change'),
      (accounts) => accounts.lock(SMALL_ACCOUNT, 'deletion'),
    ],
    update: [(accounts) => accounts.update(ACCOUNT)],
    delete: [
      (accounts) => accounts.delete(SMALL_ACCOUNT, NOW_MS),
      reading({ endpoints: ITS_OWN, endpoint_volumes: ITS_OWN, api_keys: ITS_OWN }, (accounts) =>
        accounts.delete(GREAT_ACCOUNT, NOW_MS),
      ),
    ],
    forgetDeleted: [(accounts) => accounts.forgetDeleted()],
  }),
  ...casesOf('ApiKeysStore', new ApiKeysStore(database), {
    insert: [(keys) => keys.insert({ ...KEY, name: 'new', createdAtMs: NOW_MS })],
    list: [(keys) => keys.list(SMALL_ACCOUNT)],
    delete: [(keys) => keys.delete(SMALL_ACCOUNT, 'k1')],
    isKept: [(keys) => keys.isKept(SMALL_ACCOUNT, 'k1')],
    knownEndpoints: [(keys) => keys.knownEndpoints(SMALL_ACCOUNT, [SMALL_ENDPOINT, GREAT_ENDPOINT])],
    find: [(keys) => keys.find('prefix01')],
  }),
  ...casesOf('AuditStore', new AuditStore(database, systemClock, changeSeal()), {
    append: [(audit) => audit.append({ caller: CALLER, action: 'endpoint.created', resourceId: 'new', diff: [] })],
    list: [
      (audit) => audit.list({ limit: LIMIT }),
      (audit) => audit.list({ limit: LIMIT, beforeId: '500000' }),
      (audit) => audit.list({ limit: LIMIT, accountId: SMALL_ACCOUNT }),
      (audit) => audit.list({ limit: LIMIT, accountId: SMALL_ACCOUNT, beforeId: '500000' }),
      (audit) => audit.list({ limit: LIMIT, resourceId: GREAT_ENDPOINT }),
      (audit) => audit.list({ limit: LIMIT, resourceId: GREAT_ENDPOINT, accountId: GREAT_ACCOUNT }),
      reading({ audit_entries: 'who has every second entry has some among the latest' }, (audit) =>
        audit.list({ limit: LIMIT, accountId: GREAT_ACCOUNT }),
      ),
    ],
  }),
  ...casesOf('AccountUseStore', new AccountUseStore(database), {
    requireWithin: [
      (use) => use.requireWithin(SMALL_ACCOUNT, 'endpoints'),
      reading({ endpoints: ITS_OWN }, (use) =>
        expect(use.requireWithin(GREAT_ACCOUNT, 'endpoints')).rejects.toMatchObject({ code: 'limit-reached' }),
      ),
    ],
  }),
  ...casesOf('EndpointsStore', new EndpointsStore(database, endpointSeals()), {
    insert: [(endpoints) => endpoints.insert(ENDPOINT, RELEASE)],
    find: [(endpoints) => endpoints.find(SMALL_ACCOUNT, SMALL_ENDPOINT)],
    lock: [(endpoints) => endpoints.lock(SMALL_ACCOUNT, SMALL_ENDPOINT)],
    list: [
      (endpoints) => endpoints.list(SMALL_ACCOUNT),
      reading({ endpoints: ITS_OWN }, (endpoints) => endpoints.list(GREAT_ACCOUNT)),
    ],
    update: [
      (endpoints) => {
        const diff = [{ field: 'networkVolumes', old: [], new: ['v1'] }];
        return endpoints.update({ ...ENDPOINT, id: SMALL_ENDPOINT, release: 2_000 }, { ...RELEASE, diff });
      },
    ],
    delete: [(endpoints) => endpoints.delete(SMALL_ACCOUNT, SMALL_ENDPOINT, NOW_MS)],
  }),
  ...casesOf('ReleasesStore', new ReleasesStore(database, changeSeal()), {
    ofEndpoint: [(releases) => releases.ofEndpoint(SMALL_ACCOUNT, SMALL_ENDPOINT)],
  }),
  ...casesOf('WebhookSecretsStore', new WebhookSecretsStore(database), {
    hold: [(secrets) => secrets.hold(SMALL_ACCOUNT, SMALL_ENDPOINT)],
    list: [(secrets) => secrets.list(SMALL_ENDPOINT)],
    insert: [(secrets) => secrets.insert([{ ...WEBHOOK_SECRET, ordinal: 7, expiresAtMs: NOW_MS + 1 }])],
    replace: [(secrets) => secrets.replace(SMALL_ENDPOINT, [WEBHOOK_SECRET])],
    update: [(secrets) => secrets.update(WEBHOOK_SECRET)],
    without: [reading({ endpoints: EACH, webhook_secrets: EACH }, (secrets) => secrets.without(LIMIT))],
  }),
  ...casesOf('ReferencesStore', new ReferencesStore(database), {
    hasRegistry: [(references) => references.hasRegistry(SMALL_ACCOUNT, 'r1')],
    placesOf: [(references) => references.placesOf(SMALL_ACCOUNT, ['v1', 'v2'])],
  }),
  ...casesOf('WorkersStore', new WorkersStore(database), {
    ofEndpoint: [(workers) => workers.ofEndpoint(GREAT_ACCOUNT, GREAT_ENDPOINT)],
    scalingOf: [(workers) => workers.scalingOf(GREAT_ACCOUNT, GREAT_ENDPOINT)],
    find: [(workers) => workers.find(GREAT_ACCOUNT, GREAT_ENDPOINT, 'w1' as WorkerId)],
    restart: [(workers) => workers.restart(GREAT_ACCOUNT, GREAT_ENDPOINT, 'w1' as WorkerId)],
  }),
  ...casesOf('ScalingHistoryStore', new ScalingHistoryStore(database), {
    append: [(history) => history.append(DECISION)],
    list: [
      (history) => history.list(GREAT_ACCOUNT, GREAT_ENDPOINT, { limit: 100 }),
      (history) => history.list(GREAT_ACCOUNT, GREAT_ENDPOINT, { limit: 100, before: '50' }),
    ],
    prune: [(history) => history.prune(NOW_MS - DAY_MS, LIMIT)],
  }),
  ...casesOf('UsageStore', new UsageStore(database), {
    align: [reading({ workers: EACH_PASS, worker_runs: EACH_PASS }, (usage) => usage.align())],
    count: [reading({ worker_runs: EACH_PASS }, (usage) => usage.count(NOW_MS, LIMIT))],
    prune: [(usage) => usage.prune(NOW_MS - DAY_MS, LIMIT)],
  }),
  ...casesOf('UsageReportStore', new UsageReportStore(database), {
    countedUntilMs: [
      reading({ workers: 'a fifth of them could be of its endpoints, for all that the planner knows' }, (report) =>
        report.countedUntilMs({ accountId: SMALL_ACCOUNT, endpointIds: null }, NOW_MS),
      ),
      (report) => report.countedUntilMs({ accountId: SMALL_ACCOUNT, endpointIds: [SMALL_ENDPOINT] }, NOW_MS),
      (report) => report.countedUntilMs({ accountId: GREAT_ACCOUNT, endpointIds: [GREAT_ENDPOINT] }, NOW_MS),
      reading({ endpoints: ITS_OWN, workers: ITS_OWN, worker_runs: ITS_OWN }, (report) =>
        report.countedUntilMs({ accountId: GREAT_ACCOUNT, endpointIds: null }, NOW_MS),
      ),
    ],
    list: [
      (report) => report.list(USAGE_REPORT),
      (report) => report.list({ ...USAGE_REPORT, accountId: SMALL_ACCOUNT }),
      (report) => report.list({ ...USAGE_REPORT, endpointIds: [GREAT_ENDPOINT] }),
      (report) => report.list({ ...USAGE_REPORT, bucketMs: DAY_MS, isByGpuType: true }),
      (report) => report.list({ ...USAGE_REPORT, bucketMs: DAY_MS, isByEndpoint: false, isByGpuType: true }),
      (report) => {
        const after = { atMs: TODAY_MS - DAY_MS, endpointId: GREAT_ENDPOINT, gpuTypeId: null };
        return report.list({ ...USAGE_REPORT, startMs: after.atMs, after });
      },
    ],
  }),
  ...casesOf('JobHistoryStore', new JobHistoryStore(database, logShard), {
    progress: [(history) => history.progress()],
    completeUntilMs: [(history) => history.completeUntilMs(SMALL_ENDPOINT)],
    begin: [(history) => history.begin(0, LOG_POSITION)],
    known: [(history) => history.known(HISTORY_PLACES)],
    write: [
      async (history) => {
        await history.begin(1, LOG_POSITION);
        const from = { position: LOG_POSITION, completeUntilMs: null };
        expect(await history.write(HISTORY_ROWS, { shard: 1, from, to: from })).not.toBeNull();
      },
    ],
    confirm: [(history) => history.confirm(new Map([[1, { position: LOG_POSITION, completeUntilMs: NOW_MS }]]))],
    removeOrphans: [(history) => history.removeOrphans(LIMIT)],
    list: [
      (history) => history.list(HISTORY_LIST),
      (history) =>
        history.list({ ...HISTORY_LIST, before: { createdAtMs: NOW_MS - 10 * DAY_MS, jobId: 'j' as JobId } }),
      (history) => history.list({ ...HISTORY_LIST, accountId: GREAT_ACCOUNT, endpointId: GREAT_ENDPOINT }),
      (history) =>
        history.list({
          ...HISTORY_LIST,
          accountId: GREAT_ACCOUNT,
          endpointId: GREAT_ENDPOINT,
          statuses: ['TIMED_OUT'],
        }),
    ],
    find: [(history) => history.find({ accountId: GREAT_ACCOUNT, endpointId: GREAT_ENDPOINT, jobId: 'j4' as JobId })],
  }),
  ...casesOf('IdempotencyKeysStore', new IdempotencyKeysStore(database), {
    take: [(keys) => keys.take({ ...USED_KEY, key: 'key-3' }, { waitMs: 1_000, keptMs: 1_000 })],
    complete: [(keys) => keys.complete(USED_KEY, { status: 201, sealed: 'v1.00000000.sealed', tag: null })],
    prune: [(keys) => keys.prune(LIMIT)],
  }),
  ...casesOf('RateWindowsStore', new RateWindowsStore(database), {
    count: [(windows) => windows.count(SMALL_ACCOUNT, { minute: 1, hour: 1, day: 1 })],
  }),
];

const DECISION: DecisionRecord = {
  ...{ endpointId: GREAT_ENDPOINT, atMs: NOW_MS, desiredBefore: 0, desired: 1, reason: 'demand', detail: '1 queued' },
  inputs: { demand: { queued: 1, queuedLow: 0, running: 0, oldestWaitMs: 1 }, workers: {} },
  outcome: { created: 1, drained: 0, resumed: 0, forgotten: 0, unplaced: 0, unplacedReason: null },
};
const HISTORY_LIST = {
  accountId: SMALL_ACCOUNT,
  endpointId: SMALL_ENDPOINT,
  statuses: ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'],
  before: null,
  limit: LIMIT,
} as const;
const LOG_POSITION = { streamCreated: '2026-01-01', sequence: 1 };
/** Few, because what is planned counts each in every partition; what is done looks at one. */
const HISTORY_PLACES = Array.from({ length: 5 }, (_, index) => ({
  endpointId: SMALL_ENDPOINT,
  jobId: `j${String(index)}` as JobId,
  createdAtMs: NOW_MS - (index % 30) * DAY_MS,
}));
const HISTORY_ROWS: readonly HistoryRow[] = HISTORY_PLACES.map(({ createdAtMs, endpointId, jobId }) => ({
  endpointId,
  attempt: 1,
  job: {
    jobId,
    status: 'COMPLETED',
    origin: 'run',
    createdAtMs,
    startedAtMs: null,
    endedAtMs: createdAtMs,
    delayTimeMs: 0,
    executionTimeMs: 0,
    hostId: null,
    workerId: null,
    attempts: 0,
    error: null,
    attemptList: [],
    webhook: null,
  },
}));

const USED_KEY = { accountId: SMALL_ACCOUNT, route: 'POST /v2/serverless', key: 'key-1', hash: HASH };

/** What a request for resources does. */
const resourceCases = (database: Database): readonly StoreCase[] => [
  ...casesOf('RegistriesStore', new RegistriesStore(database), {
    insert: [
      (registries) => {
        const registry = { id: 'new', accountId: SMALL_ACCOUNT, name: 'new', createdAtMs: NOW_MS };
        return registries.insert(registry, 'v1.00000000.sealed');
      },
    ],
    find: [(registries) => registries.find(SMALL_ACCOUNT, 'r1')],
    list: [(registries) => registries.list(SMALL_ACCOUNT)],
    lock: [(registries) => registries.lock(SMALL_ACCOUNT, 'r1')],
    usersOf: [
      (registries) => registries.usersOf(SMALL_ACCOUNT, 'r1', LIMIT),
      (registries) => registries.usersOf(GREAT_ACCOUNT, 'r2', LIMIT),
    ],
    delete: [(registries) => registries.delete(SMALL_ACCOUNT, 'r5')],
  }),
  ...casesOf('NetworkVolumesStore', new NetworkVolumesStore(database), {
    insert: [
      (volumes) =>
        volumes.insert({
          id: 'new',
          accountId: SMALL_ACCOUNT,
          name: 'new',
          sizeGb: 10,
          dataCenterId: 'dc1',
          type: 'STANDARD',
          createdAtMs: NOW_MS,
        }),
    ],
    find: [(volumes) => volumes.find(SMALL_ACCOUNT, 'v1')],
    list: [(volumes) => volumes.list(SMALL_ACCOUNT)],
    lock: [(volumes) => volumes.lock(SMALL_ACCOUNT, 'v1')],
    usersOf: [
      (volumes) => volumes.usersOf(SMALL_ACCOUNT, 'v1', LIMIT),
      (volumes) => volumes.usersOf(GREAT_ACCOUNT, 'v2', LIMIT),
    ],
    update: [(volumes) => volumes.update({ id: 'v1', accountId: SMALL_ACCOUNT, name: 'other', sizeGb: 20 })],
    delete: [(volumes) => volumes.delete(SMALL_ACCOUNT, 'v5')],
  }),
  ...casesOf('RunningCatalogsStore', new RunningCatalogsStore(database), {
    exchange: [(running) => running.exchange({ process: 'p', app: 'controllers', digest: HASH, file: null }, 90_000)],
    forget: [(running) => running.forget('p')],
  }),
  ...casesOf('DeletedVolumesStore', new DeletedVolumesStore(database), {
    on: [(volumes) => volumes.on('storage')],
    forget: [(volumes) => volumes.forget('storage', ['v1', 'v2'])],
  }),
  ...casesOf('TemplatesStore', new TemplatesStore(database, envSeal()), {
    insert: [(templates) => templates.insert({ id: 'new', ...TEMPLATE, createdAtMs: NOW_MS })],
    findVisible: [(templates) => templates.findVisible(SMALL_ACCOUNT, 't1')],
    lockOwn: [(templates) => templates.lockOwn(SMALL_ACCOUNT, 't1')],
    list: [(templates) => templates.list(SMALL_ACCOUNT)],
    listPublic: [
      (templates) => templates.listPublic({ limit: LIMIT, source: null }),
      (templates) => templates.listPublic({ limit: LIMIT, source: 'official' }),
    ],
    update: [(templates) => templates.update({ id: 't1', ...TEMPLATE })],
    delete: [(templates) => templates.delete(SMALL_ACCOUNT, 't1')],
  }),
  ...casesOf('ClustersStore', new ClustersStore(database), {
    insert: [(clusters) => clusters.insert(CLUSTER)],
    find: [(clusters) => clusters.find(SMALL_ACCOUNT, 'c1' as ClusterId)],
    list: [(clusters) => clusters.list(SMALL_ACCOUNT)],
    members: [
      (clusters) => clusters.members(SMALL_ACCOUNT, 'c1' as ClusterId),
      (clusters) => clusters.members(SMALL_ACCOUNT, 'all'),
    ],
  }),
  ...casesOf('PodsStore', new PodsStore(database), {
    insert: [(pods) => pods.insert(POD)],
    find: [(pods) => pods.find(SMALL_ACCOUNT, 'p1' as PodId)],
    list: [
      (pods) => pods.list(SMALL_ACCOUNT, { includesClusterPods: true }),
      (pods) => pods.list(SMALL_ACCOUNT, { includesClusterPods: false }),
    ],
    ofCluster: [(pods) => pods.ofCluster(SMALL_ACCOUNT, 'c1' as ClusterId)],
  }),
  ...casesOf('HostLoadsStore', new HostLoadsStore(database), {
    all: [reading({ workers: 'what is free is what all of them leave' }, (loads) => loads.all())],
  }),
];

const TEMPLATE = {
  accountId: SMALL_ACCOUNT,
  spec: {
    name: 'new',
    container: { ...SPEC.container, registryId: 'r1' },
    persistentMount: null,
    isServerless: true,
    isPublic: false,
    source: 'community',
    category: 'CPU',
    startsSsh: false,
    startsJupyter: false,
    allowedCudaVersions: [],
  },
} as const;

const CLUSTER = {
  id: 'new' as ClusterId,
  accountId: SMALL_ACCOUNT,
  name: 'new',
  type: 'TRAINING',
  compute: { gpuTypeId: 'gpu', gpuCountPerPod: 1, podCount: 2 },
  templateId: null,
  network: null,
  createdAtMs: NOW_MS,
} as const;

const POD = {
  id: 'new' as PodId,
  accountId: SMALL_ACCOUNT,
  name: 'new',
  container: { ...SPEC.container, diskGb: 10 },
  compute: { kind: 'cpu', flavorId: 'cpu3c', vcpuCount: 2, memoryGb: 4 },
  persistentMount: null,
  networkMounts: [{ volumeId: 'v1', path: '/data' }],
  cloud: 'SECURE',
  dataCenterId: null,
  cudaVersion: null,
  status: 'PROVISIONING',
  reason: '',
  sshProxy: null,
  sshDirect: null,
  templateId: null,
  costUsdPerHour: 0,
  isLocked: false,
  globalNetwork: null,
  runtime: null,
  createdAtMs: NOW_MS,
  startedAtMs: null,
  membership: null,
} as const;

const EACH = 'every row is compared with its snapshot';

/** What hosts, the control loops and the resync do. */
const loopCases = (database: Database, source: DataSource): readonly StoreCase[] => [
  ...casesOf('HostsStore', new HostsStore(database), {
    insert: [(hosts) => hosts.insert({ host: NEW_HOST, tokenHash: HASH, tokenExpiresAtMs: NOW_MS + 1_000 })],
    inviteNode: [(hosts) => hosts.inviteNode({ host: NEW_NODE, tokenHash: HASH, tokenExpiresAtMs: NOW_MS + 1_000 })],
    forgetNodes: [reading({ hosts: 'each may be gone; once in a pass' }, (hosts) => hosts.forgetNodes(NOW_MS))],
    readmitNode: [(hosts) => hosts.readmitNode(NEW_NODE.id, NOW_MS)],
    list: [(hosts) => hosts.list()],
    find: [(hosts) => hosts.find(HOST)],
    workersOf: [(hosts) => hosts.workersOf(HOST)],
    failingWorkers: [
      reading({ workers: 'each may fail, and an operator asks seldom' }, (hosts) => hosts.failingWorkers()),
    ],
    setIntent: [(hosts) => hosts.setIntent(HOST, 'cordoned')],
    delete: [(hosts) => hosts.delete(HOST, NOW_MS), (hosts) => hosts.delete(NEW_NODE.id, NOW_MS)],
  }),
  ...casesOf('HostSessionsStore', new HostSessionsStore(database), {
    find: [(sessions) => sessions.find(HOST)],
    removed: [(sessions) => sessions.removed([HOST, 'gone' as HostId])],
    tokenState: [(sessions) => sessions.tokenState(HOST, HASH, NOW_MS)],
    join: [(sessions) => sessions.join(HOST, FIRST_HASH, { secretHash: HASH, inventory: INVENTORY, nowMs: NOW_MS })],
    record: [
      (sessions) =>
        sessions.record({
          hostId: HOST,
          instanceId: 'instance',
          sequence: 1,
          inventory: INVENTORY,
          workers: [observed('w500', 'idle'), observed('w1000', 'idle')],
          receivedAtMs: NOW_MS,
        }),
    ],
    desired: [(sessions) => sessions.desired(HOST)],
    deletedOf: [(sessions) => sessions.deletedOf([GREAT_ENDPOINT, 'gone' as EndpointId])],
  }),
  ...casesOf('ImagesAheadStore', new ImagesAheadStore(database), { on: [(images) => images.on(HOST)] }),
  ...casesOf('LogPlacesStore', new LogPlacesStore(database), {
    ofEndpoint: [
      (places) => places.ofEndpoint(GREAT_ACCOUNT, GREAT_ENDPOINT, null),
      (places) => places.ofEndpoint(GREAT_ACCOUNT, GREAT_ENDPOINT, 'w500'),
    ],
  }),
  ...casesOf('FleetStore', new FleetStore(database), {
    load: [
      reading({ workers: EACH_PASS, network_volumes: 'it has one page for ten endpoints' }, (fleet) =>
        fleet.load([SMALL_ENDPOINT]),
      ),
    ],
    saveScaling: [
      (fleet) =>
        fleet.saveScaling({
          endpointId: SMALL_ENDPOINT,
          desired: 1,
          reason: 'demand',
          detail: '',
          waiting: [],
          unplaced: 0,
          starts: null,
          decidedAtMs: NOW_MS,
        }),
    ],
    createWorkers: [
      (fleet) =>
        fleet.createWorkers(
          [
            {
              id: 'new' as WorkerId,
              endpointId: SMALL_ENDPOINT,
              hostId: HOST,
              release: 1,
              resources: RESOURCES,
              createdAtMs: NOW_MS,
              volumeId: 'v1',
              storageId: 'storage',
            },
          ],
          { name: 'controllers', number: 1, isOver: () => false },
        ),
    ],
    drainWorker: [(fleet) => fleet.drainWorker('w1' as WorkerId)],
    pauseWorker: [(fleet) => fleet.pauseWorker('w1' as WorkerId, 10_000)],
    resumeWorker: [(fleet) => fleet.resumeWorker('w1' as WorkerId)],
    noteStay: [(fleet) => fleet.noteStay('w1' as WorkerId, 'it stays')],
    forgetWorker: [
      (fleet) => fleet.forgetWorker({ id: 'w1' as WorkerId, reason: 'removed', hostLastSeenAtMs: null }),
      (fleet) => fleet.forgetWorker({ id: 'w1' as WorkerId, reason: 'host-lost', hostLastSeenAtMs: NOW_MS }),
    ],
    forgetEndpoint: [(fleet) => fleet.forgetEndpoint(SMALL_ENDPOINT)],
  }),
  ...casesOf('LeaderLease', leaderLease(source), {
    acquire: [(lease) => lease.acquire()],
    release: [(lease) => lease.release()],
  }),
  ...casesOf('SnapshotOutboxStore', new SnapshotOutboxStore(database), {
    add: [(outbox) => outbox.add('endpoints', [SMALL_ENDPOINT])],
    addEndpointsOf: [
      (outbox) => outbox.addEndpointsOf(SMALL_ACCOUNT, 'endpoints', LIMIT),
      reading({ endpoints: ITS_OWN }, (outbox) => outbox.addEndpointsOf(GREAT_ACCOUNT, 'endpoints', LIMIT)),
    ],
    after: [(outbox) => outbox.after('0', LIMIT)],
    remove: [(outbox) => outbox.remove(['1'])],
    has: [(outbox) => outbox.has({ bucket: 'endpoints', key: SMALL_ENDPOINT })],
    backlog: [(outbox) => outbox.backlog()],
  }),
  ...casesOf('WebhookSecretTruth', new WebhookSecretTruth(database), {
    all: [reading({ endpoints: EACH, webhook_secrets: EACH }, (truth) => truth.all())],
    one: [(truth) => truth.one(SMALL_ENDPOINT)],
  }),
  ...casesOf('endpointTruth', endpointTruth(database), {
    all: [reading({ endpoints: EACH }, (truth) => truth.all())],
    one: [(truth) => truth.one(SMALL_ENDPOINT)],
  }),
  ...casesOf('apiKeyTruth', apiKeyTruth(database), {
    all: [reading({ api_keys: EACH }, (truth) => truth.all())],
    one: [(truth) => truth.one('prefix01')],
  }),
  ...casesOf('hostTruth', hostTruth(database), {
    all: [(truth) => truth.all()],
    one: [(truth) => truth.one(HOST)],
  }),
];

const leaderLease = (source: DataSource): LeaderLease =>
  new LeaderLease(source, { name: 'controllers', holder: 'test', leaseMs: 1_000, clock: systemClock });

/** Of the first host, as `big-database.ts` makes it. */
const FIRST_HASH = '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b';

const NEW_HOST = {
  id: 'new' as HostId,
  name: 'new',
  dataCenterId: 'dc1',
  labels: {},
  intent: 'ready',
  inventory: null,
  lastSeenAtMs: null,
  createdAtMs: NOW_MS,
} as const;

const NEW_NODE = { ...NEW_HOST, id: 'node-0b7e7a0c-9d2f-4c7e-8d57-5f6c7a3b1e11' as HostId } as const;

/** Pages of a pass over all that rests sealed. */
const sealingCases = (database: Database): readonly StoreCase[] => {
  const unused = { reseal: () => Promise.reject(new Error('nothing is sealed anew')) };
  const credentials = { reseal: () => '' };
  const places = sealedPlaces({ database, secrets: secretBox(), credentials, webhookSecrets: unused });
  return places.map((place) => ({
    name: `SealedPlace.${place.kind}`,
    call: () => place.page(null, LIMIT),
    reads: {},
  }));
};

export const storeCases = (database: Database, source: DataSource): readonly StoreCase[] => [
  ...requestCases(database),
  ...resourceCases(database),
  ...loopCases(database, source),
  ...sealingCases(database),
];
