import type { WorkerId } from '@berth/domain';
import type { Clock, Random, ThreadProgram } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { Attempt, JobClient, StopReason } from '../job-client/index.js';
import { BadCallers } from './http/bad-callers.js';
import { BodyQueue } from './bodies/body-queue.js';
import type {
  BodyBounds,
  Bridge,
  BridgeEvent,
  BridgeWorkerState,
  ReadLogTail,
  WorkerAdmission,
  WorkerDeparture,
  WorkerRegistration,
} from './bridge.port.js';
import { DepartedWorkers } from './departed-workers.js';
import { HttpListener, type WorkerExchange } from './http/http-listener.js';
import { BODY_THREAD, LargeBodies } from './bodies/large-bodies.js';
import { bridgeGauges, bridgeMetrics, type BridgeMetrics } from './metrics.js';
import { PostedBodies } from './bodies/posted-bodies.js';
import { WorkerTokens } from './worker-tokens.js';
import { parseCall, workerOf, type WorkerCall } from './http/worker-call.js';
import { workerEnvironment } from './worker-environment.js';
import { StartWaits } from './worker-session/start-waits.js';
import { WorkerSession } from './worker-session/worker-session.js';

export interface BridgeOptions {
  readonly client: JobClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: MetricRegistry;
  readonly log: Logger;
  readonly listenHost: string;
  /** The first that is free is taken; 0 is any. A re-adopted worker knows only the one that it was started with. */
  readonly listenPorts: readonly number[];
  /** Name under which workers reach this host. */
  readonly advertisedHost: string;
  readonly bodies: BodyBounds;
  /** Another program for the thread that reads large bodies, for tests. */
  readonly bodyThread?: ThreadProgram;
  readonly logTail: ReadLogTail;
}

const WATCH_MS = 500;
/** A call that comes before the agent knows its workers waits this long at most. */
const RESTORE_WAIT_MAX_MS = 25_000;
const JOBS_LOOK_MS = 50;
/** What a worker that is gone, but whose process still polls, is held for. */
const DEPARTED_HOLD_MS = 20_000;

/** The HTTP bridge of this host: one listener, one session per started worker. */
export class WorkerBridge implements Bridge {
  readonly #options: BridgeOptions;
  readonly #metrics: BridgeMetrics;
  readonly #startWaits: StartWaits;
  readonly #listener: HttpListener;
  readonly #sessions = new Map<WorkerId, WorkerSession>();
  readonly #tokens = new WorkerTokens<WorkerSession>();
  readonly #departed: DepartedWorkers;
  readonly #badCallers: BadCallers;
  readonly #bodyBudget: BodyQueue;
  readonly #largeBodies: LargeBodies;
  readonly #postedBodies: PostedBodies;
  readonly #subscribers = new Set<(event: BridgeEvent) => void>();
  readonly #restored = new AbortController();
  readonly #endings: (() => void)[] = [];
  readonly #warned = new Set<WorkerId>();
  #port = 0;

  private constructor(options: BridgeOptions) {
    this.#options = options;
    this.#metrics = bridgeMetrics(options.metrics);
    this.#startWaits = new StartWaits(this.#metrics.startWaits, options.clock);
    this.#bodyBudget = new BodyQueue(options.bodies, options.clock);
    this.#largeBodies = new LargeBodies(options.bodyThread ?? BODY_THREAD, options);
    this.#postedBodies = new PostedBodies({
      budget: this.#bodyBudget,
      large: this.#largeBodies,
      metrics: this.#metrics,
      log: options.log,
    });
    bridgeGauges(options.metrics, {
      workers: () => this.#sessions.size,
      bodyBytes: () => this.#bodyBudget.heldBytes,
    });
    this.#departed = new DepartedWorkers(options.clock);
    this.#badCallers = new BadCallers(options.clock, this.#metrics);
    this.#listener = new HttpListener((exchange) => this.#serve(exchange), options.log);
  }

  /** Opens the listener; calls wait until `restore`. @throws when the address cannot be had */
  static async open(options: BridgeOptions): Promise<WorkerBridge> {
    const bridge = new WorkerBridge(options);
    bridge.#port = await bridge.#listener.listen(options.listenHost, options.listenPorts);
    return bridge;
  }

  get port(): number {
    return this.#port;
  }

  get address(): string {
    return `${this.#options.advertisedHost}:${this.#port}`;
  }

  async restore(workers: readonly WorkerAdmission[]): Promise<void> {
    const { client, clock } = this.#options;
    for (const worker of workers) this.#admit({ ...worker, isAdopted: true });
    const attempts = await client.restore((workerId) => this.#sessions.has(workerId));
    for (const attempt of attempts) this.#sessions.get(attempt.workerId)?.adopt(attempt);
    this.#endings.push(
      client.onStop((attempt, reason) => this.#stop(attempt, reason)),
      clock.every(WATCH_MS, () => this.#watch()),
    );
    client.start();
    this.#restored.abort();
  }

  registerWorker(registration: WorkerRegistration): Readonly<Record<string, string>> {
    this.#admit({ ...registration, isAdopted: false });
    const address = { host: this.#options.advertisedHost, port: this.#port };
    return workerEnvironment(registration, address);
  }

  async beginDrain(workerId: WorkerId): Promise<void> {
    await this.#sessions.get(workerId)?.drain();
  }

  noteAskedToEnd(workerId: WorkerId): void {
    this.#sessions.get(workerId)?.noteAskedToEnd();
  }

  async holdPolls(workerId: WorkerId): Promise<void> {
    await this.#sessions.get(workerId)?.hold();
  }

  openPolls(workerId: WorkerId): void {
    this.#sessions.get(workerId)?.open();
  }

  async unregister(workerId: WorkerId, departure: WorkerDeparture): Promise<void> {
    const session = this.#sessions.get(workerId);
    if (session === undefined) return;
    this.#sessions.delete(workerId);
    this.#warned.delete(workerId);
    this.#tokens.remove(session.token);
    this.#departed.add(session.token);
    await session.leave(departure);
  }

  state(workerId: WorkerId): BridgeWorkerState | null {
    return this.#sessions.get(workerId)?.state ?? null;
  }

  subscribe(listener: (event: BridgeEvent) => void): () => void {
    this.#subscribers.add(listener);
    return () => this.#subscribers.delete(listener);
  }

  /**
   * Gives out no job any more, and resolves once none runs, or after `limitMs`: a result that comes when nobody listens is
   * lost, and its job runs again.
   */
  async finishJobs(limitMs: number): Promise<void> {
    const { clock } = this.#options;
    const untilMs = clock.monotonicMs() + limitMs;
    const sessions = [...this.#sessions.values()];
    // A worker that does not read its answer must not keep the agent.
    for (const session of sessions) void session.hold();
    while (sessions.some((session) => session.state.runningJobs > 0) && clock.monotonicMs() < untilMs) {
      await clock.sleep(JOBS_LOOK_MS);
    }
  }

  /** Workers keep what they run; the next start takes it up again. */
  async close(): Promise<void> {
    for (const end of this.#endings) end();
    await this.#listener.close();
    await this.#largeBodies.close();
  }

  #admit(admission: WorkerAdmission & { readonly isAdopted: boolean }): void {
    const { workerId, token } = admission;
    const present = this.#sessions.get(workerId);
    if (present?.token === token) return;
    if (present !== undefined) throw new Error(`worker ${workerId} is registered already with another token`);
    const { client, clock, random, log, logTail } = this.#options;
    const emit = (event: BridgeEvent): void => this.#emit(event);
    const [metrics, startWaits] = [this.#metrics, this.#startWaits];
    const tools = { client, clock, random, metrics, log, emit, logTail, startWaits };
    const session = new WorkerSession(admission, tools);
    this.#sessions.set(workerId, session);
    this.#tokens.add(token, session);
  }

  /** A worker that is gone has let go of everything. */
  #stop(attempt: Attempt, reason: StopReason): void {
    const session = this.#sessions.get(attempt.workerId);
    if (session === undefined) void this.#options.client.letGo(attempt);
    else session.stop(attempt, reason);
  }

  #watch(): void {
    for (const session of this.#sessions.values()) session.watch();
    this.#bodyBudget.watch();
  }

  #emit(event: BridgeEvent): void {
    for (const listener of this.#subscribers) listener(event);
  }

  async #serve(exchange: WorkerExchange): Promise<void> {
    const call = parseCall(exchange.method, exchange.target);
    this.#metrics.calls.inc({ call: call?.kind ?? 'unknown' });
    if (!(await this.#isReady(exchange))) return;
    const session = this.#tokens.find(exchange.authorization);
    if (session === null && this.#departed.has(exchange.authorization)) await this.#serveDeparted(exchange);
    else if (session === null) await this.#refuseToken(exchange);
    else if (call === null) await this.#badCallers.refuse(exchange, 404);
    else await this.#serveBounded(session, call, exchange);
  }

  /** After a restart nobody is known yet, and a refusal would cost a worker its result. */
  async #isReady({ reply }: WorkerExchange): Promise<boolean> {
    const { signal } = this.#restored;
    if (signal.aborted) return true;
    await this.#options.clock.sleep(RESTORE_WAIT_MAX_MS, AbortSignal.any([signal, reply.gone]));
    if (!signal.aborted) await reply.send(503);
    return signal.aborted;
  }

  async #refuseToken(exchange: WorkerExchange): Promise<void> {
    const workerId = workerOf(exchange.target);
    if (this.#sessions.has(workerId) && !this.#warned.has(workerId)) {
      this.#warned.add(workerId);
      // The SDK prefers a key that the image brings along to the one in its environment.
      this.#options.log.warn('A worker shows another key than its own; has its image a ~/.runpod/config.toml?', {
        workerId,
      });
    }
    await this.#badCallers.refuse(exchange, 401);
  }

  async #serveDeparted({ method, reply }: WorkerExchange): Promise<void> {
    this.#metrics.refused.inc({ reason: 'departed' });
    if (method !== 'POST') await this.#options.clock.sleep(DEPARTED_HOLD_MS, reply.gone);
    await reply.send(method === 'POST' ? 200 : 204, method === 'POST' ? '{}' : undefined);
  }

  /** A worker that asks for far too much is told to slow down; what it posts, to send it again. */
  async #serveBounded(session: WorkerSession, call: WorkerCall, exchange: WorkerExchange): Promise<void> {
    const isServed =
      exchange.claim(session.workerId) && (await session.calls.tryRun(() => this.#serveCall(session, call, exchange)));
    if (isServed) return;
    this.#metrics.refused.inc({ reason: 'calls' });
    await exchange.reply.hangUpWith(exchange.method === 'POST' ? 503 : 429);
  }

  async #serveCall(session: WorkerSession, call: WorkerCall, exchange: WorkerExchange): Promise<void> {
    const { reply } = exchange;
    session.noteCall();
    switch (call.kind) {
      case 'take':
        return session.serveTake(call, reply);
      case 'stop':
        return session.serveStop(reply);
      case 'ping':
        session.servePing(call);
        await reply.send(200, '{"status":"pong"}');
        return;
      case 'unhealthy':
        session.wantRecycle(`the worker's own check "${call.check}" failed: ${call.reason}`);
        await reply.send(200, '{"status":"noted"}');
        return;
      case 'done':
      case 'stream':
        return this.#postedBodies.serve(session, call, exchange);
      default:
        call satisfies never;
    }
  }
}
