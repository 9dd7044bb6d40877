import { inboxPrefix, type EndpointSnapshot } from '@berth/contracts';
import type { EndpointId, HostId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import {
  useNatsCluster,
  useNatsServer,
  type NatsClusterFixture,
  type NatsFixture,
  type UseNatsServerOptions,
} from '@berth/testing/servers';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { loadConfig } from '../../src/config.js';
import { startRouter, type RunningRouter } from '../../src/compose.js';
import type { NameLookup } from '../../src/webhooks/name-lookup.port.js';
import { SOURCE_THREAD } from './body-threads.js';
import { ControlPlane, TOPOLOGY, newWorkerId, type Tenant } from './control-plane.js';
import { JobClient } from './job-client.js';
import { ScriptedAgent } from './scripted-agent.js';
import { TcpProxy } from './tcp-proxy.js';

const START_TIMEOUT_MS = 240_000;
/** The operator's key of every router of one spec file. */
export const SECRET_KEY = Buffer.alloc(32, 1).toString('base64');

export interface TestRouter extends RunningRouter {
  readonly url: string;
  stop(): Promise<void>;
  /** Cuts the router off from the only broker in the middle of whatever it does; nobody hears of it again. */
  crash(): void;
}

export interface Scene {
  readonly tenant: Tenant;
  readonly endpointId: EndpointId;
  readonly hostId: HostId;
  readonly client: JobClient;
  readonly agent: ScriptedAgent;
}

export interface RouterBenchOptions extends Pick<UseNatsServerOptions, 'fileStoreMaxBytes'> {
  /** Settings of every router, over the usual ones. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Of the receivers of webhooks. */
  readonly nameLookup?: NameLookup;
  /** Default: one. Of three, routers begin at the first two, and hosts stay at the second. */
  readonly brokers?: 1 | 3;
}

/** A broker, or three of them, a control plane and routers for one spec file. */
export class RouterBench {
  readonly #nats: NatsFixture | undefined;
  readonly #cluster: NatsClusterFixture | undefined;
  readonly #clients: NatsConnection[] = [];
  readonly #environment: Readonly<Record<string, string>>;
  readonly #nameLookup: NameLookup | undefined;
  readonly #routers = new Set<TestRouter>();
  readonly #agents: ScriptedAgent[] = [];
  #controlPlane: ControlPlane | undefined;
  #router: TestRouter | undefined;

  constructor({ brokers = 1, environment = {}, nameLookup, ...limits }: RouterBenchOptions = {}) {
    // Before the broker's own, since these run in order, and a router without its broker takes long to stop.
    afterAll(async () => {
      await Promise.all([...this.#routers].map((router) => router.stop()));
      await Promise.all(this.#clients.map((client) => client.close()));
    }, START_TIMEOUT_MS);
    this.#nats = brokers === 1 ? useNatsServer(limits) : undefined;
    this.#cluster = brokers === 3 ? useNatsCluster() : undefined;
    this.#environment = environment;
    this.#nameLookup = nameLookup;
    beforeAll(async () => {
      this.#controlPlane = await ControlPlane.open(await this.connect(), brokers);
      this.#router = await this.startRouter();
    }, START_TIMEOUT_MS);
    afterEach(async () => {
      await Promise.all(this.#agents.splice(0).map((agent) => agent.stop()));
    }, START_TIMEOUT_MS);
  }

  /** The broker where there is one. */
  get nats(): NatsFixture {
    return present(this.#nats);
  }

  /** The brokers where there are three. */
  get cluster(): NatsClusterFixture {
    return present(this.#cluster);
  }

  /** A client that is closed after the last test of the file. */
  async connect(options: NodeConnectionOptions = {}): Promise<NatsConnection> {
    if (this.#nats !== undefined) return this.#nats.connect(options);
    const [, calm] = this.cluster.cluster.servers;
    const client = await connect({ servers: present(calm).url, maxReconnectAttempts: -1, ...options });
    this.#clients.push(client);
    return client;
  }

  get controlPlane(): ControlPlane {
    return present(this.#controlPlane);
  }

  /** The router that every test may use. */
  get router(): TestRouter {
    return present(this.#router);
  }

  /** Starts a router and waits until it has caught up. */
  async startRouter(): Promise<TestRouter> {
    const stops: (() => Promise<void> | void)[] = [];
    const proxy = this.#nats === undefined ? undefined : await TcpProxy.open(this.nats.server.url);
    const config = loadConfig({
      BERTH_NATS_URL: proxy?.url ?? this.#urlOfTwo,
      BERTH_NATS_REPLICAS: this.#nats === undefined ? '3' : '1',
      BERTH_HTTP_PORT: '0',
      BERTH_SECRET_KEY: SECRET_KEY,
      BERTH_OPERATIONS_PORT: '0',
      BERTH_DRAIN_DELAY_MS: '0',
      BERTH_NATS_STORAGE_BYTES: String(TOPOLOGY.storageBytes),
      BERTH_NATS_MEMORY_BYTES: String(TOPOLOGY.memoryBytes),
      // Tests ask faster than anybody may; those of the limits switch them on.
      BERTH_RATE_LIMITS: 'off',
      // Everybody may do everything on the bench's broker.
      BERTH_TRUSTED_BROKER: 'on',
      ...this.#environment,
    });
    const running = await startRouter(config, {
      name: 'job-router',
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      bodyThread: SOURCE_THREAD,
      onStop: (_, stop) => stops.unshift(stop),
      ...(this.#nameLookup === undefined ? {} : { nameLookup: this.#nameLookup }),
    });
    const router: TestRouter = {
      ...running,
      url: `http://127.0.0.1:${running.httpPort}`,
      stop: async () => {
        this.#routers.delete(router);
        for (const stop of stops.splice(0)) await stop();
        proxy?.cut();
      },
      crash: () => {
        present(proxy).cut();
      },
    };
    this.#routers.add(router);
    await eventually(
      async () => {
        const answer = await fetch(`http://127.0.0.1:${running.operationsPort}/readyz`);
        expect(await answer.json()).toMatchObject({ status: 'ready' });
      },
      { deadlineMs: 90_000 },
    );
    return router;
  }

  get #urlOfTwo(): string {
    const two = this.cluster.cluster.servers.slice(0, 2);
    return two.map(({ url }) => url).join(',');
  }

  /** A tenant with an endpoint and one worker on a host of its own. */
  async scene(endpoint: Partial<EndpointSnapshot> = {}): Promise<Scene> {
    const tenant = await this.controlPlane.tenant();
    const endpointId = await this.controlPlane.endpoint(tenant.accountId, endpoint);
    const hostId = await this.controlPlane.host();
    const workerId = newWorkerId();
    await this.controlPlane.assign(endpointId, [{ id: workerId, hostId }]);
    const agent = await this.agent({ hostId, workerId, endpointId });
    return { tenant, endpointId, hostId, client: this.client(endpointId, tenant), agent };
  }

  async agent(place: ScriptedAgent['place']): Promise<ScriptedAgent> {
    const connection = await this.connect({ inboxPrefix: inboxPrefix(place.hostId) });
    const agent = new ScriptedAgent(connection, place);
    this.#agents.push(agent);
    return agent;
  }

  client(endpointId: EndpointId, tenant: Tenant, router: TestRouter = this.router): JobClient {
    return new JobClient(`${router.url}/v2/${endpointId}`, tenant.key);
  }
}

const present = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('It is there from beforeAll on.');
  return value;
};
