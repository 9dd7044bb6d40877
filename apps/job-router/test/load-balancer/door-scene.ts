import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { Module } from '@nestjs/common';
import type {
  ApiKeySnapshot,
  AssignmentSnapshot,
  AssignedWorker,
  EndpointSnapshot,
  WitnessMessage,
} from '@berth/contracts';
import {
  PlatformError,
  can,
  type AccountId,
  type EndpointId,
  type HostId,
  type KeyGrant,
  type Scope,
  type WorkerId,
} from '@berth/domain';
import {
  API_KEY_DIRECTORY,
  createHttpApp,
  hashApiKey,
  jobRendering,
  makeApiKey,
  type HttpApp,
  type TrustedProxies,
} from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import { MetricRegistry, NO_TRACES, RecordedTraces, createLogger, type Span } from '@berth/telemetry';
import { ManualClock, SeededRandom, eventually } from '@berth/testing';
import { expect } from '@jest/globals';
import { composeLoadBalancer, type LoadBalancerDirectory } from '../../src/load-balancer/index.js';
import { HeldCalls } from '../../src/jobs/index.js';
import { TcpLink } from './tcp-link.js';

export const HOST = 'ep1.lb.test';
export const BODY_MAX_BYTES = 1_024 * 1_024;
const ACCOUNT = 'a1' as AccountId;
const ENDPOINT = 'ep1' as EndpointId;

export interface SceneOptions {
  readonly clock?: Clock;
  readonly slotsPerWorker?: number;
  readonly endpoint?: Partial<EndpointSnapshot>;
  readonly trustedProxies?: TrustedProxies;
  readonly bodyBytesMax?: number;
  readonly loggedPermille?: number;
  /** Of 1,000 requests without a trace so many are recorded; nothing is, unless said. */
  readonly tracedPermille?: number;
  /** Address that the router listens at; IPv4's own of this machine unless said. */
  readonly listensAt?: string;
}

/** A router's door with its endpoint `ep1`, real HTTP in front and real servers of workers behind. */
export class DoorScene implements LoadBalancerDirectory {
  readonly clock: Clock;
  readonly link = new TcpLink();
  readonly calls = new HeldCalls({ endpointOf: (endpointId) => this.knownEndpoint(endpointId) });
  readonly metrics = new MetricRegistry();
  /** Steps of recorded traces that are over. */
  readonly spans: Span[] = [];
  /** What was logged, a line each. */
  readonly logged: string[] = [];
  readonly logger = createLogger({ name: 'test', level: 'info', format: 'json', output: this.#output() });
  readonly told: WitnessMessage[] = [];
  readonly endpoints = new Map<string, EndpointSnapshot>();
  readonly workers: AssignedWorker[] = [];
  /** What the control plane says of workers that are not there. */
  outlook: AssignmentSnapshot['outlook'];
  readonly key: string;
  /** Keys and ids of requests are the same in each run: what a test looks for in the text is not there by chance. */
  readonly #random = new SeededRandom(1);
  readonly #options: SceneOptions;
  readonly #keys: ApiKeySnapshot[] = [];
  readonly #servers: Server[] = [];
  readonly #callers: RawCaller[] = [];
  #changed: (endpointId: EndpointId) => void = () => undefined;
  #deleted: () => void = () => undefined;
  #parts: ReturnType<typeof composeLoadBalancer> | undefined;
  #app: HttpApp | undefined;
  #port = 0;

  constructor(options: SceneOptions = {}) {
    this.#options = options;
    this.clock = options.clock ?? new ManualClock();
    this.key = this.newKey(['jobs:write']);
    const common = { accountId: ACCOUNT, executionTimeoutMs: 600_000, workersMax: 3, isDeleted: false };
    this.endpoints.set('ep1', { id: ENDPOINT, type: 'LOAD_BALANCER', ...common, ...options.endpoint });
    this.endpoints.set('queue', { id: 'queue' as EndpointId, type: 'QUEUE', ...common });
  }

  #output(): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.logged.push(...chunk.toString().trimEnd().split('\n'));
        done();
      },
    });
  }

  #traces() {
    const { tracedPermille: permille } = this.#options;
    if (permille === undefined) return NO_TRACES;
    const sink = (span: Span): void => void this.spans.push(span);
    return new RecordedTraces({ clock: this.clock, random: new SeededRandom(1), permille, sink });
  }

  get port(): number {
    return this.#port;
  }

  get parts(): ReturnType<typeof composeLoadBalancer> {
    if (this.#parts === undefined) throw new Error('the scene is not open');
    return this.#parts;
  }

  newKey(scopes: readonly Scope[], more: Partial<ApiKeySnapshot> = {}): string {
    const { hash, key, prefix } = makeApiKey(this.#random);
    this.#keys.push({
      ...{ id: prefix, prefix, hash, scopes, endpointIds: null, expiresAtMs: null, accountId: ACCOUNT },
      ...more,
    });
    return key;
  }

  revoke(key: string): void {
    const at = this.#keys.findIndex(({ hash }) => hash === hashApiKey(key));
    this.#keys.splice(at, 1);
  }

  /** The control plane has deleted the scene's endpoint. */
  deleteEndpoint(): void {
    const endpoint = this.endpoints.get(ENDPOINT);
    if (endpoint !== undefined) this.endpoints.set(ENDPOINT, { ...endpoint, isDeleted: true });
    this.#deleted();
  }

  async open(): Promise<void> {
    const { clock, metrics } = this;
    const parts = { clock, metrics, random: this.#random, logger: this.logger };
    this.#parts = composeLoadBalancer({
      ...parts,
      traces: this.#traces(),
      settings: {
        ...{ routerId: 'r1', docsUrl: '/docs' },
        loadBalancer: {
          ...{ domain: 'lb.test:8001', holdMs: 120_000 },
          bodyBytesMax: this.#options.bodyBytesMax ?? BODY_MAX_BYTES,
          loggedPermille: this.#options.loggedPermille ?? 0,
        },
      },
      directory: this,
      onAssignmentChanged: (listener) => (this.#changed = listener),
      onEndpointDeleted: (listener) => (this.#deleted = listener),
      link: this.link,
      holdCall: (endpointId) => this.calls.begin(endpointId),
      peers: { tell: () => undefined, listen: () => () => undefined },
      pulse: { heardAtMs: Number.POSITIVE_INFINITY },
      publish: (message) => this.told.push(message),
      drainMs: 10_000,
    });
    this.#parts.demand.start();
    class NothingElseModule {}
    const find = async (asked: string) => this.#keys.find(({ prefix }) => prefix === asked) ?? null;
    Module({ providers: [{ provide: API_KEY_DIRECTORY, useValue: { find } }] })(NothingElseModule);
    this.#app = await createHttpApp(NothingElseModule, {
      ...{ ...parts, docsUrl: '/docs', credentialForm: 'bearer-or-bare' as const, bodyMaxBytes: () => 1_024 },
      renderingOf: () => jobRendering,
      dispatch: this.#parts.door,
      ...(this.#options.trustedProxies === undefined ? {} : { trustedProxies: this.#options.trustedProxies }),
    });
    this.#port = await this.#app.listen(this.#options.listensAt ?? '127.0.0.1', 0);
  }

  async close(): Promise<void> {
    for (const { socket } of this.#callers) socket.destroy();
    this.#parts?.demand.stop();
    for (const server of this.#servers) server.closeAllConnections();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
    await this.drain();
  }

  /** As the process begins to stop, and does not come to an end. */
  stop(): void {
    void this.parts.release(() => new Promise(() => undefined));
  }

  async drain(): Promise<void> {
    const app = this.#app;
    this.#app = undefined;
    await app?.drain(1);
  }

  /** A worker that is up, and its server. */
  async addWorker(id: string, answer: RequestListener, more: { slots?: number; phase?: 'idle' | 'starting' } = {}) {
    const server = createServer({ keepAliveTimeout: 60_000 }, answer);
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    this.assign(id, port, more);
    return server;
  }

  assign(
    id: string,
    port: number,
    { phase = 'idle', slots }: { slots?: number; phase?: 'idle' | 'starting' } = {},
  ): void {
    this.link.workers.set(id, { port, slots: slots ?? this.#options.slotsPerWorker ?? 1 });
    this.change(id, { id: id as WorkerId, hostId: 'h1' as HostId, phase, isDraining: false });
  }

  /** The control plane says so now; null: there is no such worker any more. */
  change(id: string, worker: Partial<AssignedWorker> | null): void {
    const at = this.workers.findIndex((each) => each.id === id);
    const before = at === -1 ? [] : this.workers.splice(at, 1);
    if (worker !== null) this.workers.push({ ...before[0], ...worker } as AssignedWorker);
    this.#changed(ENDPOINT);
  }

  caller(): RawCaller {
    const caller = new RawCaller(this.#port, this.key);
    this.#callers.push(caller);
    return caller;
  }

  knownEndpoint(endpointId: EndpointId): EndpointSnapshot | null {
    return this.endpoints.get(endpointId) ?? null;
  }

  async authorize(caller: KeyGrant, endpointId: string, scope: Scope): Promise<EndpointSnapshot> {
    const endpoint = this.endpoints.get(endpointId) ?? null;
    const verdict = can(caller, { scope, endpoint }, this.clock.nowMs());
    if (verdict.kind === 'refused') throw new PlatformError(verdict.code, verdict.detail);
    if (endpoint === null) throw new PlatformError('endpoint-not-found', 'No such endpoint.');
    return endpoint;
  }

  assignmentOf(endpointId: EndpointId) {
    if (endpointId !== ENDPOINT) return null;
    const { outlook, workers } = this;
    const slotsPerWorker = this.#options.slotsPerWorker ?? 1;
    return { endpointId, workers, slotsPerWorker, ...(outlook === undefined ? {} : { outlook }) };
  }

  async refreshAssignment(): Promise<void> {
    // What the scene knows is what there is.
  }

  /** The value of a metric's line, with its labels as they are written; 0 where there is none. */
  async metric(line: string): Promise<number> {
    const found = (await this.metrics.text()).split('\n').find((each) => each.startsWith(`${line} `));
    return found === undefined ? 0 : Number(found.split(' ').at(-1));
  }

  manualClock(): ManualClock {
    if (this.clock instanceof ManualClock) return this.clock;
    throw new Error('the clock of this scene is the system’s');
  }
}

/** A caller who says bytes and keeps what comes. */
export class RawCaller {
  readonly socket: Socket;
  readonly #key: string;
  heard = '';
  isEnded = false;
  isClosed = false;
  isReset = false;

  constructor(port: number, key: string) {
    this.#key = key;
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (chunk: Buffer) => (this.heard += chunk.toString('latin1')));
    this.socket.on('end', () => (this.isEnded = true));
    this.socket.on('close', () => (this.isClosed = true));
    this.socket.on('error', () => (this.isReset = true));
  }

  say(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** A request with the scene's key, unless the headers say something else. */
  ask(line: string, headers: Readonly<Record<string, string | null>> = {}, body = ''): void {
    const all: Record<string, string | null> = { Host: HOST, Authorization: `Bearer ${this.#key}`, ...headers };
    const lines = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
    this.say([`${line} HTTP/1.1`, ...lines, '', body].join('\r\n'));
  }

  async hears(text: string | RegExp): Promise<void> {
    await eventually(() => expect(this.heard).toMatch(text));
  }

  async ends(): Promise<void> {
    await eventually(() => expect(this.isEnded || this.isClosed).toBe(true));
  }
}
