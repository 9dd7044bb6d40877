import 'reflect-metadata';
import {
  BUCKETS,
  assignmentSnapshotShape,
  demandSubject,
  hostSubject,
  inboxPrefix,
  refusedInboxPrefix,
  wakeSubject,
  type AssignmentSnapshot,
  type DesiredWorker,
  type HostReply,
  type JoinReply,
} from '@berth/contracts';
import {
  SHIPPED_CATALOG,
  type Demand,
  type HardwareCatalog,
  type HostId,
  type Inventory,
  type WorkerPhase,
} from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import {
  AgentTransport,
  Broker,
  SnapshotDirectory,
  SnapshotWriter,
  connectAgentGateway,
  ensureTopology,
  plainCodec,
  snapshotCodec,
} from '@berth/messaging';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useNatsServer, type NatsFixture } from '@berth/testing/servers';
import { afterEach, beforeEach } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { DataSource } from 'typeorm';
import { AgentAdmission } from '../src/agent-connections/agent-admission.js';
import { HostSessionsController } from '../src/host-sessions/host-sessions.controller.js';
import { HostSessionsService } from '../src/host-sessions/host-sessions-service.js';
import { newJoinToken } from '../src/host-sessions/join-token.js';
import { hashHostSecret } from '../src/host-sessions/secret-hash.js';
import { Database } from '../src/persistence/database.js';
import { FleetStore } from '../src/reconcilers/fleet.store.js';
import { ImagesAheadStore } from '../src/host-sessions/images-ahead.store.js';
import { HostSessionsStore } from '../src/host-sessions/host-sessions.store.js';
import { LeaderLease } from '../src/leadership/leader-lease.js';
import { ControlLoops } from '../src/reconcilers/control-loops.js';
import { DecisionCounts } from '../src/reconcilers/decisions/decision-counts.js';
import { DemandBoard } from '../src/reconcilers/demand/demand-board.js';
import { NatsFleetPublisher } from '../src/reconcilers/nats-fleet-publisher.js';
import { FleetReconciler } from '../src/reconcilers/fleet-reconciler.js';
import { controllersMetrics } from '../src/reconcilers/metrics.js';
import { RegistryCredentialsService } from '../src/registries/registry-credentials-service.js';
import { ScalingHistoryStore } from '../src/scaling-history/scaling-history.store.js';
import { demandMessage, INVENTORY, observed, useFleetBench, type FleetBench } from './fleet-bench.js';
import { envSeal, secretBox } from './secret-box.js';

const SIZE = { replicas: 1, storageBytes: 2 ** 30, memoryBytes: 2 ** 20 } as const;
const ACCOUNT = 'APP';
const REQUEST_MS = 10_000;
const STEP_MS = 250;
const REPORT_EVERY_STEPS = 8;
const DEADLINE_MS = 50_000;

@Module({ controllers: [HostSessionsController] })
class SessionsModule {
  static of(service: HostSessionsService): DynamicModule {
    return { module: SessionsModule, providers: [{ provide: HostSessionsService, useValue: service }] };
  }
}

/** One controllers process. */
export interface Controllers {
  readonly lease: LeaderLease;
  readonly source: DataSource;
  stop(): Promise<void>;
  /** Its metrics. */
  shown(): Promise<string>;
}

type Stop = () => unknown;

/**
 * Broker with roles, database, host sessions, admission of agents, and any number of controllers processes, all real but
 * the clock: `until` lets a quarter of a second pass and everybody react, until what is expected has come true.
 */
export class ControlPlaneBench {
  readonly nats: NatsFixture;
  readonly fleet: FleetBench;
  readonly hosts: ScriptedHost[] = [];
  /** What the one router says in each step; null: nothing, as if there were none. */
  demand: Readonly<Record<string, Partial<Demand>>> | null = {};
  readonly #catalog: HardwareCatalog;
  readonly #stops: Stop[] = [];
  #router: NatsConnection | undefined;
  #assignments: SnapshotWriter<AssignmentSnapshot> | undefined;
  #steps = 0;

  constructor(nats: NatsFixture, fleet: FleetBench, catalog: HardwareCatalog) {
    this.#catalog = catalog;
    this.nats = nats;
    this.fleet = fleet;
  }

  get sessions(): HostSessionsStore {
    return this.fleet.sessions;
  }

  async open(): Promise<void> {
    this.demand = {};
    const management = await this.nats.connectAs('management');
    const broker = await Broker.over({ connection: management, inboxPrefix: '_INBOX_management' });
    await ensureTopology({ broker, part: 'snapshots', size: SIZE, clock: systemClock, random: systemRandom });
    const sessions = await this.nats.connectAs('sessions');
    await this.#serveSessions(management, sessions);
    await this.#admitAgents();
    this.#router = await this.nats.connectAs('router');
    const reader = await Broker.over({ connection: this.#router, inboxPrefix: '_INBOX_router' });
    const bucket = { broker: reader, clock: systemClock, bucket: BUCKETS.assignments };
    this.#assignments = new SnapshotWriter({ ...bucket, codec: plainCodec<AssignmentSnapshot>() });
    this.#stops.push(
      () => management.close(),
      () => sessions.close(),
      () => this.#router?.close(),
    );
  }

  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) await stop();
    this.hosts.length = 0;
  }

  /** As a router reads them, from the leader. */
  async assigned(endpointId: string): Promise<AssignmentSnapshot['workers']> {
    return (await this.#assignments?.read(endpointId))?.value.workers ?? [];
  }

  async outlook(endpointId: string): Promise<AssignmentSnapshot['outlook']> {
    return (await this.#assignments?.read(endpointId))?.value.outlook;
  }

  async startControllers(holder: string, leaseMs = 5_000): Promise<Controllers> {
    const { clock } = this.fleet;
    const source = await this.fleet.connect();
    const connection = await this.nats.connectAs('controllers');
    const broker = await Broker.over({ connection, inboxPrefix: '_INBOX_controllers' });
    const bucket = {
      broker,
      clock: systemClock,
      bucket: BUCKETS.assignments,
      codec: snapshotCodec(assignmentSnapshotShape),
    };
    const publisher = new NatsFleetPublisher({
      connection,
      writer: new SnapshotWriter(bucket),
      directory: new SnapshotDirectory({ ...bucket, onError: () => undefined }),
    });
    await publisher.start();
    const registry = new MetricRegistry();
    const metrics = controllersMetrics(registry);
    const lease = new LeaderLease(source, { name: 'controllers', holder, leaseMs, clock });
    const demand = new DemandBoard();
    const store = new FleetStore(new Database(source));
    const logger = silentLogger;
    const history = new ScalingHistoryStore(new Database(source));
    const catalog = this.#catalog;
    const shared = { catalog, store, history, demand, publisher, clock, random: systemRandom, logger, metrics };
    const counts = new DecisionCounts(metrics.decisions, clock);
    const loops = new ControlLoops({
      connection,
      lease,
      demand,
      newFleet: (term) => new FleetReconciler({ ...shared, counts, term }),
      clock,
      logger,
      metrics: registry,
      onUnreadable: () => undefined,
    });
    loops.start();
    let stopped: Promise<void> | undefined;
    const stop = (): Promise<void> => (stopped ??= loops.stop());
    this.#stops.push(
      () => source.isInitialized && source.destroy(),
      () => connection.close(),
      () => publisher.stop(),
      () => stop().catch(() => undefined),
    );
    return { lease, source, stop, shown: () => registry.text() };
  }

  /** A host with a token, and its agent, which joins and lives from then on. */
  async addAgent(hostId: string, inventory = INVENTORY): Promise<ScriptedHost> {
    const token = await this.newToken(hostId);
    const agent = new ScriptedHost(this, hostId as HostId, inventory);
    await agent.join(token);
    await agent.connect();
    this.hosts.push(agent);
    this.#stops.push(() => agent.close());
    return agent;
  }

  async newToken(hostId: string): Promise<string> {
    const token = newJoinToken(hostId as HostId, systemRandom);
    await this.fleet.addHost(hostId, { inventory: null, lastSeenAt: null });
    await this.fleet.addJoinToken(hostId, hashHostSecret(token), this.fleet.clock.nowMs() + 60_000);
    return token;
  }

  /** Lets time pass until the assertions hold. */
  async until(check: () => Promise<void> | void): Promise<void> {
    const step = async (): Promise<void> => {
      await this.pass();
      await check();
    };
    await eventually(step, { deadlineMs: DEADLINE_MS, intervalMs: 5 });
  }

  async pass(): Promise<void> {
    this.#steps += 1;
    const { clock } = this.fleet;
    if (this.demand !== null) {
      this.#router?.publish(demandSubject('router'), JSON.stringify(demandMessage(clock.nowMs(), this.demand)));
    }
    if (this.#steps % REPORT_EVERY_STEPS === 0) await Promise.all(this.hosts.map((host) => host.report()));
    await clock.advance(STEP_MS);
  }

  connectAgent(user: string, pass: string, hostId = user): Promise<NatsConnection> {
    return this.nats.connect({ user, pass, inboxPrefix: inboxPrefix(hostId as HostId), reconnect: false });
  }

  /** As who asks why its token was refused. */
  connectRefused(token: string, hostId: string): Promise<NatsConnection> {
    const prefix = refusedInboxPrefix(hostId as HostId);
    return this.nats.connect({ user: 'join-refused', pass: token, inboxPrefix: prefix, reconnect: false });
  }

  async #serveSessions(management: NatsConnection, connection: NatsConnection): Promise<void> {
    const { clock, deletedVolumes } = this.fleet;
    const onChange = (): void => {
      management.publish('control.changed', '{}');
    };
    const credentials = new RegistryCredentialsService(secretBox(), silentLogger);
    const service = new HostSessionsService({
      catalog: this.#catalog,
      store: this.sessions,
      credentials,
      envs: envSeal(),
      deletedVolumes,
      imagesAhead: new ImagesAheadStore(new Database(this.fleet.source)),
      clock,
      onChange,
    });
    const app = await NestFactory.create(SessionsModule.of(service), new FastifyAdapter(), { logger: false });
    const gateway = { connection, queue: 'management-api', drainMs: 1_000, clock: systemClock, logger: silentLogger };
    connectAgentGateway(app, gateway);
    await app.startAllMicroservices();
    this.#stops.push(() => app.close());
  }

  async #admitAgents(): Promise<void> {
    const connection = await this.nats.connectAs('callout');
    const answer = { issuerSeeds: [this.nats.keys.issuer] as const, account: ACCOUNT };
    const { sessions: store } = this;
    new AgentAdmission({
      connection,
      store,
      nodes: null,
      answer,
      clock: this.fleet.clock,
      logger: silentLogger,
    }).start();
    await connection.flush();
    this.#stops.push(() => connection.close());
  }
}

/** An agent by script: it hears what is wanted, and says of its workers what the test says. */
export class ScriptedHost {
  readonly #bench: ControlPlaneBench;
  readonly #hostId: HostId;
  readonly #secret = systemRandom.id(40);
  readonly #instanceId = systemRandom.id(8);
  #connection: NatsConnection | undefined;
  #sequence = 0;
  /** Workers that it was told to have, by the last reply. */
  desired: readonly DesiredWorker[] = [];
  /** What it says of a worker that is to run. */
  phase: WorkerPhase = 'preparing';
  inventory: Inventory;
  isSilent = false;
  /** For each wake that could be followed up: whether the routers knew of all its desired workers by then. */
  readonly wakes: boolean[] = [];
  #hearing: Promise<void> = Promise.resolve();

  constructor(bench: ControlPlaneBench, hostId: HostId, inventory = INVENTORY) {
    this.#bench = bench;
    this.#hostId = hostId;
    this.inventory = inventory;
  }

  async join(token: string): Promise<JoinReply> {
    const connection = await this.#bench.connectAgent('join', token, this.#hostId);
    try {
      const body = { token, secretHash: hashHostSecret(this.#secret), inventory: this.inventory };
      const subject = hostSubject(this.#hostId, 'join');
      return (await new AgentTransport(connection).request(subject, body, { timeoutMs: REQUEST_MS })) as JoinReply;
    } finally {
      await connection.close();
    }
  }

  async connect(secret = this.#secret): Promise<void> {
    const { nats } = this.#bench;
    const prefix = inboxPrefix(this.#hostId);
    this.#connection = await nats.connect({
      user: this.#hostId,
      pass: secret,
      inboxPrefix: prefix,
      reconnectTimeWait: 50,
    });
    this.#connection.subscribe(wakeSubject(this.#hostId), {
      callback: () => {
        this.#hearing = this.#hearing.then(() => this.#hearWake());
      },
    });
    await this.#connection.flush();
  }

  /** Says what is, hears what shall be, and does so at once. */
  async report(): Promise<void> {
    if (this.isSilent || this.#connection === undefined) return;
    this.#sequence += 1;
    const workers = this.desired.map(({ endpointId, intent, release, workerId }) =>
      observed(workerId, intent === 'drained' ? 'removed' : this.phase, { endpointId, release }),
    );
    const [secret, instanceId, sequence] = [this.#secret, this.#instanceId, this.#sequence];
    const body = { secret, instanceId, sequence, inventory: this.inventory, workers };
    const subject = hostSubject(this.#hostId, 'report');
    const transport = new AgentTransport(this.#connection);
    // A broker that is away takes no report; the next one tells the same.
    const reply = (await transport
      .request(subject, body, { timeoutMs: REQUEST_MS })
      .catch(() => null)) as HostReply | null;
    if (reply !== null) this.desired = reply.desired;
  }

  async close(): Promise<void> {
    this.isSilent = true;
    await this.#hearing;
    await this.#connection?.close();
  }

  async #hearWake(): Promise<void> {
    await this.report();
    const isKnown = await this.#areAssigned().catch(() => null);
    if (isKnown !== null) this.wakes.push(isKnown);
    await this.report();
  }

  async #areAssigned(): Promise<boolean> {
    const known = [...Map.groupBy(this.desired, ({ endpointId }) => endpointId)].map(async ([endpointId, workers]) => {
      const ids = new Set((await this.#bench.assigned(endpointId)).map(({ id }) => id));
      return workers.every(({ workerId }) => ids.has(workerId));
    });
    return (await Promise.all(known)).every(Boolean);
  }
}

/** Call once at the top of a spec. */
export function useControlPlane(catalog = SHIPPED_CATALOG): ControlPlaneBench {
  const bench = new ControlPlaneBench(useNatsServer({ access: 'roles' }), useFleetBench(), catalog);
  beforeEach(() => bench.open());
  afterEach(() => bench.close());
  return bench;
}
