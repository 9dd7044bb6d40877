import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  PlatformError,
  bytesOfHead,
  faultOfAnswer,
  forwardAnswer,
  forwardInformation,
  forwardRequest,
  forwardTrailers,
  isChunked,
  nextLimit,
  type ErrorCode,
  type ExchangePhase,
  type TimeLimits,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { answerProblem, tooLarge } from './answer-problem.js';
import { FAILURES, type ExchangeFailure } from './failures.js';
import { flow } from './flow.js';
import { linger } from './linger.js';
import { framingOf, type Visit } from './visit.js';
import type { Place } from './waiter.js';

/** How it ended. `upgraded`: it is a WebSocket now, and whoever was told so has it. */
export type ExchangeOutcome =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'upgraded' }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly wasCut: boolean }
  | { readonly kind: 'caller-gone' };

export interface UpgradedPlace {
  readonly stream: Duplex;
  /** The head of the answer, for the caller. */
  readonly answerHead: readonly string[];
  /** What the worker has sent behind it. */
  readonly early: Buffer;
}

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly limits: TimeLimits;
  readonly logger: Logger;
  readonly docsUrl: string;
  readonly bodyBytesMax: number;
  readonly hidesAuthorization: boolean;
  readonly onFirstByte: () => void;
  readonly onUpgrade: (upgraded: UpgradedPlace) => void;
}

type Finish = (outcome: ExchangeOutcome) => void;

/** Of the head of a worker's answer. */
const ANSWER_HEAD_MAX_BYTES = 64 * 1_024;
/** Of all that a worker says before its answer: a caller that does not read cannot hold it back. */
const INFORMATION_MAX_BYTES = 256 * 1_024;

/** One request with the worker that has it. It is never given to another one: what this one has done is not known. */
export class Exchange {
  readonly #visit: Visit;
  readonly #place: Place;
  readonly #options: ExchangeOptions;
  readonly #admittedAtMs: number;
  readonly #upstream: ClientRequest;
  #phase: ExchangePhase = 'sending';
  #movedAtMs: number;
  #informationBytes = 0;
  #disarm: (() => void) | undefined;
  #finish: Finish | undefined;

  constructor(visit: Visit, place: Place, options: ExchangeOptions) {
    this.#visit = visit;
    this.#place = place;
    this.#options = options;
    this.#admittedAtMs = options.clock.monotonicMs();
    this.#movedAtMs = this.#admittedAtMs;
    this.#upstream = this.#open();
  }

  /** Resolves when nothing is to be done any more; the stream of the place is closed then, unless it was upgraded. */
  run(): Promise<ExchangeOutcome> {
    return new Promise((resolve) => {
      this.#finish = resolve;
      const { gone } = this.#visit;
      if (gone.aborted) this.#end({ kind: 'caller-gone' });
      else gone.addEventListener('abort', () => this.#end({ kind: 'caller-gone' }));
      this.#listen();
      this.#send();
      this.#arm();
    });
  }

  #open(): ClientRequest {
    const { connection, request, requestId, traceparent, wanted } = this.#visit;
    const { method = 'GET', rawHeaders, url = '/' } = request;
    return httpRequest({
      createConnection: () => this.#place.stream,
      method,
      path: url,
      maxHeaderSize: ANSWER_HEAD_MAX_BYTES,
      headers: forwardRequest({
        ...{ method, headers: rawHeaders, requestId, traceparent, framing: framingOf(request) },
        ...{ peer: connection.peer, isUpgrade: wanted !== null },
        hidesAuthorization: this.#options.hidesAuthorization,
      }),
    });
  }

  #listen(): void {
    // Before HTTP hears of it, to which a lost connection may look like the end of an answer.
    this.#place.stream.prependOnceListener('error', () => this.#fail('worker-connection-lost'));
    this.#upstream
      .on('information', ({ rawHeaders, statusCode }) => this.#relay(() => this.#inform(statusCode, rawHeaders)))
      .on('response', (answer) => this.#relay(() => this.#answer(answer)))
      .on('upgrade', (answer, _stream, early) => this.#relay(() => this.#upgrade(answer, early)))
      .on('error', (error: NodeJS.ErrnoException) =>
        this.#fail(error.code?.startsWith('HPE_') === true ? 'worker-answer-invalid' : 'worker-connection-lost'),
      );
  }

  /** Node refuses to write what it has read where a worker's words are none of HTTP's. */
  #relay(act: () => void): void {
    if (this.#finish === undefined) return;
    try {
      act();
    } catch (error) {
      this.#options.logger.debug('an answer of a worker could not be passed on', { error });
      this.#fail('worker-answer-invalid');
    }
  }

  #send(): void {
    const { request } = this.#visit;
    if (framingOf(request) === 'none') {
      this.#upstream.end();
      this.#sent();
      return;
    }
    this.#upstream.flushHeaders();
    let bytes = 0;
    flow(request, this.#upstream, {
      onChunk: (chunk) => {
        this.#moved();
        bytes += chunk.length;
        return bytes <= this.#options.bodyBytesMax || this.#refuseBody();
      },
      onEnd: () => {
        if (request.rawTrailers.length > 0) this.#upstream.addTrailers(pairs(forwardTrailers(request.rawTrailers)));
        this.#upstream.end();
        this.#sent();
      },
    });
  }

  #sent(): void {
    if (this.#phase === 'sending') this.#enter('awaiting');
    else this.#moved();
  }

  #refuseBody(): false {
    this.#failWith(tooLarge(this.#options.bodyBytesMax));
    return false;
  }

  #inform(status: number, rawHeaders: readonly string[]): void {
    const { request, response } = this.#visit;
    this.#informationBytes += bytesOfHead(String(status), rawHeaders);
    if (this.#informationBytes > INFORMATION_MAX_BYTES) {
      this.#fail('worker-answer-invalid');
      return;
    }
    if (request.httpVersion === '1.0') return;
    this.#moved();
    if (status !== 100) response.writeInformation(status, forwardInformation(rawHeaders));
    else if (request.headers.expect !== undefined) response.writeContinue();
  }

  #answer(answer: IncomingMessage): void {
    const { request, requestId, response } = this.#visit;
    if (!this.#isSound(answer)) return;
    this.#begin();
    const mayHaveTrailers = isChunked(answer.rawHeaders) && request.httpVersion === '1.1';
    const { rawHeaders: headers, statusCode: status = 0, statusMessage = '' } = answer;
    const workerId = this.#place.worker.id;
    response.writeHead(status, statusMessage, forwardAnswer({ status, headers, workerId, requestId, mayHaveTrailers }));
    response.flushHeaders();
    flow(answer, response, {
      onChunk: () => {
        this.#moved();
        return true;
      },
      onEnd: () =>
        this.#relay(() => {
          if (answer.rawTrailers.length > 0 && mayHaveTrailers)
            response.addTrailers(pairs(forwardTrailers(answer.rawTrailers)));
          response.end();
          this.#end({ kind: 'answered', status });
        }),
    });
    answer.once('error', () => this.#fail('worker-connection-lost'));
  }

  #upgrade(answer: IncomingMessage, early: Buffer): void {
    if (!this.#isSound(answer)) return;
    this.#begin();
    const { rawHeaders: headers, statusCode: status = 0 } = answer;
    const { requestId } = this.#visit;
    const workerId = this.#place.worker.id;
    const answerHead = forwardAnswer({ status, headers, workerId, requestId, mayHaveTrailers: false });
    const finish = this.#stop();
    this.#options.onUpgrade({ stream: this.#place.stream, answerHead, early });
    finish?.({ kind: 'upgraded' });
  }

  /** False: the exchange has failed for it. */
  #isSound({ rawHeaders: headers, statusCode: status = 0 }: IncomingMessage): boolean {
    const fault = faultOfAnswer({ status, headers }, this.#visit.wanted !== null);
    if (fault === null) return true;
    this.#options.logger.debug('an answer of a worker is not passed on', { fault });
    this.#fail('worker-answer-invalid');
    return false;
  }

  #begin(): void {
    this.#enter('answering');
    this.#options.onFirstByte();
  }

  /** Each phase has its own limit, which may come sooner than that of the one before. */
  #enter(phase: ExchangePhase): void {
    this.#phase = phase;
    this.#moved();
    this.#arm();
  }

  #moved(): void {
    this.#movedAtMs = this.#options.clock.monotonicMs();
  }

  /** Looks when a limit would be reached without any progress, and then again. */
  #arm(): void {
    this.#disarm?.();
    if (this.#finish === undefined) return;
    const { clock, limits } = this.#options;
    const progress = { phase: this.#phase, admittedAtMs: this.#admittedAtMs, movedAtMs: this.#movedAtMs };
    const { atMs, code } = nextLimit(progress, limits);
    const leftMs = atMs - clock.monotonicMs();
    if (leftMs > 0) this.#disarm = clock.after(leftMs, () => this.#arm());
    // Where the worker takes nothing, its caller is not to blame that nothing comes.
    else this.#fail(code === 'request-timeout' && this.#upstream.writableNeedDrain ? 'worker-idle-timeout' : code);
  }

  #fail(code: ExchangeFailure): void {
    this.#failWith(new PlatformError(code, FAILURES[code]));
  }

  #failWith(error: PlatformError): void {
    if (this.#finish === undefined) return;
    const { request, response } = this.#visit;
    const wasCut = response.headersSent;
    const { docsUrl } = this.#options;
    if (!wasCut) answerProblem(this.#visit, error, { docsUrl, workerId: this.#place.worker.id });
    // An answer to HTTP/1.0 ends with its connection: only a reset shows that it is not whole.
    else if (request.httpVersion === '1.0') request.socket.resetAndDestroy();
    else response.destroy();
    this.#end({ kind: 'failed', code: error.code, wasCut });
  }

  #end(outcome: ExchangeOutcome): void {
    const finish = this.#stop();
    if (finish === undefined) return;
    this.#upstream.destroy();
    this.#place.stream.destroy();
    linger(this.#visit.request, this.#options.clock);
    finish(outcome);
  }

  #stop(): Finish | undefined {
    const finish = this.#finish;
    this.#finish = undefined;
    this.#disarm?.();
    return finish;
  }
}

const pairs = (raw: readonly string[]): [string, string][] =>
  Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index] ?? '', raw[2 * index + 1] ?? '']);
