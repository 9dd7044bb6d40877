import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import {
  PlatformError,
  bytesOfHead,
  faultOfAnswer,
  forwardAnswer,
  forwardInformation,
  forwardRequest,
  forwardTrailers,
  isChunked,
  type TimeLimits,
} from '@berth/domain';
import { HeldWrites, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { answerProblem, tooLarge } from '../answer-problem.js';
import type { Place } from '../places/waiter.js';
import { framingOf, type Visit } from '../visit.js';
import type { ExchangeOutcome, UpgradedPlace } from './exchange-outcome.js';
import { ExchangeWatch } from './exchange-watch.js';
import { FAILURES, type ExchangeFailure } from './failures.js';
import { flow } from './flow.js';
import { linger } from './linger.js';
import { sendBody } from './send-body.js';
import { sendHead } from './send-head.js';
import { trailerPairs } from './trailer-pairs.js';

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly limits: TimeLimits;
  readonly logger: Logger;
  readonly docsUrl: string;
  readonly bodyBytesMax: number;
  readonly hidesAuthorization: boolean;
  /** The recorded step that the request is for its worker; null: it is not recorded. */
  readonly traceparent: string | null;
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
  readonly #watch: ExchangeWatch;
  readonly #upstream: ClientRequest;
  readonly #writes: HeldWrites;
  #informationBytes = 0;
  #finish: Finish | undefined;

  constructor(visit: Visit, place: Place, options: ExchangeOptions) {
    this.#visit = visit;
    this.#place = place;
    this.#options = options;
    this.#watch = new ExchangeWatch({
      ...{ clock: options.clock, limits: options.limits },
      isHeldUp: () => this.#upstream.writableNeedDrain,
      onDue: (code) => this.#fail(code),
    });
    // While an earlier answer has the connection, Node keeps what is said and writes it later.
    this.#writes = new HeldWrites(() => visit.response.socket);
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
      this.#watch.arm();
    });
  }

  #open(): ClientRequest {
    const { connection, request, requestId, wanted } = this.#visit;
    const { method = 'GET', rawHeaders, url = '/' } = request;
    return httpRequest({
      createConnection: () => this.#place.stream,
      method,
      path: url,
      maxHeaderSize: ANSWER_HEAD_MAX_BYTES,
      headers: forwardRequest({
        ...{ method, headers: rawHeaders, requestId, framing: framingOf(request) },
        ...{ peer: connection.peer, isUpgrade: wanted !== null },
        ...{ hidesAuthorization: this.#options.hidesAuthorization, traceparent: this.#options.traceparent },
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
    const { bodyBytesMax } = this.#options;
    const { request, traffic } = this.#visit;
    sendBody(request, this.#upstream, {
      onBytes: (bytes) => {
        this.#watch.bodyCame(bytes);
        traffic.inBytes += bytes;
        if (traffic.inBytes > bodyBytesMax) this.#failWith(tooLarge(bodyBytesMax));
        return traffic.inBytes <= bodyBytesMax;
      },
      onTaken: () => this.#watch.bodyTaken(),
      onSent: () => {
        if (this.#watch.phase === 'sending') this.#watch.enter('awaiting');
        else this.#watch.moved();
      },
    });
  }

  #inform(status: number, rawHeaders: readonly string[]): void {
    const { request, response } = this.#visit;
    this.#informationBytes += bytesOfHead(String(status), rawHeaders);
    if (this.#informationBytes > INFORMATION_MAX_BYTES) {
      this.#fail('worker-answer-invalid');
      return;
    }
    if (request.httpVersion === '1.0') return;
    this.#watch.moved();
    if (status !== 100) response.writeInformation(status, forwardInformation(rawHeaders));
    else if (request.headers.expect !== undefined) response.writeContinue();
  }

  #answer(answer: IncomingMessage): void {
    const { request, requestId, response, traffic } = this.#visit;
    if (!this.#isSound(answer)) return;
    this.#begin();
    const mayHaveTrailers = isChunked(answer.rawHeaders) && request.httpVersion === '1.1';
    const { rawHeaders: headers, statusCode: status = 0, statusMessage = '' } = answer;
    const workerId = this.#place.worker.id;
    response.writeHead(status, statusMessage, forwardAnswer({ status, headers, workerId, requestId, mayHaveTrailers }));
    this.#writes.hold();
    sendHead(response);
    flow(answer, response, {
      onChunk: ({ length }) => {
        this.#writes.hold();
        this.#watch.moved();
        traffic.outBytes += length;
        return true;
      },
      onEnd: () =>
        this.#relay(() => {
          if (answer.rawTrailers.length > 0 && mayHaveTrailers)
            response.addTrailers(trailerPairs(forwardTrailers(answer.rawTrailers)));
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
    this.#watch.enter('answering');
    this.#options.onFirstByte();
  }

  #fail(code: ExchangeFailure): void {
    this.#failWith(new PlatformError(code, FAILURES[code]));
  }

  #failWith(error: PlatformError): void {
    if (this.#finish === undefined) return;
    const { request, response } = this.#visit;
    const wasCut = response.headersSent;
    const { docsUrl } = this.#options;
    this.#writes.letGo();
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
    this.#watch.stop();
    return finish;
  }
}
