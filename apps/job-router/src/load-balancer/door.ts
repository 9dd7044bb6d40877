import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  PlatformError,
  WORKER_HEADER,
  bytesOfHead,
  endpointIdOfHost,
  readAffinity,
  toldRequestId,
  type TimeLimits,
} from '@berth/domain';
import { makeRequestId, toProblem, type Dispatch, type DispatchedConnection } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger, Traces } from '@berth/telemetry';
import { AccessLog } from './access/access-log.js';
import type { VisitEnd } from './access/visit-end.js';
import { admitVisit, type AdmittedVisit } from './admit-visit.js';
import { answerProblem } from './answer-problem.js';
import type { LoadBalancerDirectory } from './directory.port.js';
import type { ExchangeOutcome, UpgradedPlace } from './exchange/exchange-outcome.js';
import { Exchange } from './exchange/exchange.js';
import { OpenSocket } from './exchange/open-socket.js';
import type { LoadBalancerMetrics } from './metrics.js';
import type { Places } from './places/places.js';
import type { Place } from './places/waiter.js';
import { Turns } from './turns.js';
import { VisitTrace } from './visit-trace.js';
import { WantedSocket, framingOf, goneOf, traceIdOfVisit, type Visit } from './visit.js';

export interface DoorOptions {
  readonly directory: Pick<LoadBalancerDirectory, 'authorize' | 'knownEndpoint'>;
  readonly places: Places;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: LoadBalancerMetrics;
  readonly traces: Pick<Traces, 'enter' | 'isOn' | 'step'>;
  /** Each endpoint's host name is `{endpointId}.{domain}`. */
  readonly domain: string;
  /** Problem pages are at `{docsUrl}/problems/<code>`. */
  readonly docsUrl: string;
  readonly bodyBytesMax: number;
  /** Of 1,000 requests that we did not fail, as many are logged. */
  readonly loggedPermille: number;
}

const LIMITS = {
  /** The longest that workers are known to take for one answer (wire contract 4). */
  firstByteMs: 330_000,
  idleMs: 120_000,
  /** Below every line that carries a call: a body that drips would hold a place at a worker for as long as it likes. */
  leastBytesPerSecond: 1_024,
} as const;
/** Of WebSockets: clients that ping do so at least this often. */
const OPEN_IDLE_MS = 600_000;
/** As at the rest of the edge: a key that is revoked while its request waits for longer is refused. */
const TRUSTED_FOR_MS = 1_000;
const MS_PER_SECOND = 1_000;

/** Requests to load-balanced endpoints, by their host name, from their head to the last byte of their answer. */
export class Door implements Dispatch {
  readonly #options: DoorOptions;
  readonly #accessLog: AccessLog;
  readonly #open = new Set<OpenSocket>();
  readonly #turns = new Turns();

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#accessLog = new AccessLog(options);
  }

  /** WebSockets that are open. */
  get openSockets(): number {
    return this.#open.size;
  }

  takes({ headers }: IncomingMessage): boolean {
    return endpointIdOfHost(headers.host, this.#options.domain) !== null;
  }

  /**
   * A wish for anything but a WebSocket is ignored, as HTTP allows; so is one of HTTP/1.0, which has none, and one with a
   * body, which would have to arrive before.
   */
  takesUpgrade(request: IncomingMessage): boolean {
    const { headers, httpVersion, method } = request;
    const isForSocket = method === 'GET' && headers.upgrade?.trim().toLowerCase() === 'websocket';
    return this.takes(request) && isForSocket && httpVersion === '1.1' && framingOf(request) === 'none';
  }

  request(request: IncomingMessage, response: ServerResponse, connection: DispatchedConnection): void {
    void this.#serve(this.#visit({ request, response, connection, wanted: null }));
  }

  upgrade(
    request: IncomingMessage,
    socket: Socket,
    { head, ...connection }: DispatchedConnection & { readonly head: Buffer },
  ): void {
    const wanted = new WantedSocket(socket, head);
    void this.#serve(this.#visit({ request, response: wanted.makeResponse(request), connection, wanted }));
  }

  /** Tells those at the ends of WebSockets to come again, elsewhere. */
  leave(): void {
    for (const each of this.#open) each.leave();
  }

  #visit(parts: Pick<Visit, 'request' | 'response' | 'connection' | 'wanted'>): Visit {
    const { clock, domain, logger, random } = this.#options;
    const { request, response } = parts;
    response.on('error', (error) => logger.debug('an answer could not be written', { error }));
    return {
      ...parts,
      endpointId: endpointIdOfHost(request.headers.host, domain) ?? '',
      requestId: toldRequestId([request.headers['x-request-id'] ?? []].flat()[0]) ?? makeRequestId(random),
      beganAtMs: clock.monotonicMs(),
      trace: null,
      turn: this.#turns.take(request, response),
      traffic: { inBytes: 0, outBytes: 0 },
      gone: goneOf(response),
    };
  }

  /** Never rejects. */
  async #serve(visit: Visit): Promise<void> {
    let admitted: AdmittedVisit | null = null;
    let place: Place | null = null;
    let outcome: ExchangeOutcome;
    try {
      admitted = await this.#admit(visit);
      place = await this.#place(visit, admitted);
      outcome = place === null ? { kind: 'caller-gone' } : await this.#exchange(visit, place, admitted);
    } catch (error) {
      outcome = this.#refuse(visit, error);
    }
    const end = { outcome, endpointId: admitted?.endpoint.id ?? null, worker: place?.worker ?? null };
    // A WebSocket is over when both of its ends are.
    if (outcome.kind === 'upgraded') place?.stream.once('close', () => this.#note(visit, end));
    else this.#note(visit, end);
  }

  /** @throws PlatformError as `admitVisit` does */
  async #admit(visit: Visit): Promise<AdmittedVisit> {
    let hasKey = false;
    try {
      const admitted = await admitVisit(visit, this.#options);
      hasKey = admitted.isKeyed;
      return admitted;
    } finally {
      const { clock, traces } = this.#options;
      const agoMs = clock.monotonicMs() - visit.beganAtMs;
      visit.trace = VisitTrace.enter(traces, visit.request.headers, { hasKey, agoMs });
    }
  }

  #note(visit: Visit, end: VisitEnd): void {
    this.#accessLog.note(visit, end);
    visit.trace?.end(visit, end);
  }

  async #place(visit: Visit, admitted: AdmittedVisit): Promise<Place | null> {
    const { endpoint, isKeyed, isPassing } = admitted;
    const { clock, metrics, places } = this.#options;
    const { gone, request, trace } = visit;
    const askedAtMs = clock.monotonicMs();
    await visit.turn;
    const find = () =>
      places.place(endpoint.id, {
        affinity: readAffinity([request.headers[WORKER_HEADER] ?? []].flat()[0]),
        bytes: bytesOfHead(request.url ?? '', request.rawHeaders),
        ...{ isPassing, isKeyed, gone },
        noteAsk: trace === null ? null : (target) => trace.ask(target),
      });
    const place = await (trace === null ? find() : trace.waiting(find));
    if (place === null) return null;
    const waitedMs = clock.monotonicMs() - askedAtMs;
    metrics.held.observe({}, waitedMs / MS_PER_SECOND, trace?.traceparent);
    if (isKeyed && waitedMs >= TRUSTED_FOR_MS) await this.#admitAgain(visit, place);
    return place;
  }

  /** @throws PlatformError where its caller may no longer ask; no byte has reached the worker then */
  async #admitAgain(visit: Visit, { stream }: Place): Promise<void> {
    try {
      await admitVisit(visit, this.#options);
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  async #exchange(
    visit: Visit,
    place: Place,
    { endpoint, hidesAuthorization }: AdmittedVisit,
  ): Promise<ExchangeOutcome> {
    const { clock, metrics } = this.#options;
    const limits: TimeLimits = { ...LIMITS, totalMs: endpoint.executionTimeoutMs };
    const beganAtMs = clock.monotonicMs();
    const traceparent = visit.trace?.send(place) ?? null;
    try {
      const exchange = new Exchange(visit, place, {
        ...this.#options,
        ...{ limits, hidesAuthorization, traceparent },
        onFirstByte: () =>
          metrics.firstByte.observe({}, (clock.monotonicMs() - beganAtMs) / MS_PER_SECOND, traceparent),
        onUpgrade: (upgraded) => this.#openSocket(visit, upgraded, { ...limits, idleMs: OPEN_IDLE_MS }),
      });
      return await exchange.run();
    } catch (error) {
      place.stream.destroy();
      throw error;
    }
  }

  #openSocket(
    { response, traffic, wanted }: Visit,
    { answerHead, early, stream }: UpgradedPlace,
    limits: TimeLimits,
  ): void {
    if (wanted === null) throw new Error('a request that is no wish for a WebSocket has become one');
    const { socket: caller } = wanted;
    const ofCaller = wanted.take(response);
    caller.write(switchingHead(answerHead), 'latin1');
    const { clock } = this.#options;
    const onClose = () => this.#open.delete(open);
    const open = new OpenSocket({ caller, worker: stream, clock, limits, traffic, onClose });
    this.#open.add(open);
    open.start({ ofCaller, ofWorker: early });
  }

  #refuse(visit: Visit, error: unknown): ExchangeOutcome {
    const { docsUrl, logger } = this.#options;
    const { requestId, response, endpointId } = visit;
    if (!(error instanceof PlatformError)) {
      const where = { requestId, endpointId, traceId: traceIdOfVisit(visit) };
      logger.error('a request to a load-balanced endpoint failed on our side', { ...where, error });
    }
    if (visit.gone.aborted) return { kind: 'caller-gone' };
    if (response.headersSent) response.destroy();
    else answerProblem(visit, error, { docsUrl });
    return { kind: 'failed', code: toProblem(error).code, wasCut: false };
  }
}

function switchingHead(head: readonly string[]): string {
  const lines = Array.from({ length: head.length / 2 }, (_, at) => `${head[2 * at]}: ${head[2 * at + 1]}`);
  return ['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n');
}
