import type { IncomingHttpHeaders } from 'node:http';
import { isOurRequestId } from '@berth/domain';
import { duringStep, type Step, type Traces } from '@berth/telemetry';
import { requestAttributes, type LinkAnswer, type LinkTarget } from '@berth/tunnel';
import { labelOf, statusOf, type AnswerHead, type VisitEnd } from './access/visit-end.js';
import type { Place } from './places/waiter.js';

type RouterTraces = Pick<Traces, 'enter' | 'isOn' | 'step'>;

/** Questions to workers that are told of one request: it may ask for minutes. */
const ASKS_MAX = 16;
/** Lower ones are the caller's own. */
const SERVER_ERROR = 500;

interface EndedRequest {
  readonly request: { readonly method?: string | undefined };
  readonly requestId: string;
  readonly response: AnswerHead;
}

/** The steps of one request whose trace is recorded. */
export class VisitTrace {
  readonly #traces: RouterTraces;
  readonly #whole: Step;
  #asks = 0;
  #wait: Step | null = null;
  #sent: Step | null = null;

  private constructor(traces: RouterTraces, whole: Step) {
    this.#traces = traces;
    this.#whole = whole;
  }

  /** Null: it is not recorded. @param headers named in lower case */
  static enter(
    traces: RouterTraces,
    headers: IncomingHttpHeaders,
    options: Parameters<Traces['enter']>[1],
  ): VisitTrace | null {
    const step = traces.isOn ? traces.enter(headers, options).step : null;
    return step === null ? null : new VisitTrace(traces, step);
  }

  get traceparent(): string {
    return this.#whole.traceparent;
  }

  waiting<T>(wait: () => Promise<T>): Promise<T> {
    this.#wait = this.#traces.step(this.traceparent);
    return duringStep(this.#wait, { name: 'wait for worker' }, wait);
  }

  /** A worker is asked for a place. @returns to be told what it said */
  ask(target: LinkTarget): (answer: LinkAnswer) => void {
    this.#asks += 1;
    const step = this.#asks > ASKS_MAX ? null : this.#traces.step(this.#wait?.traceparent);
    return (answer) =>
      step?.end({
        ...{ name: 'ask worker', kind: 'client', attributes: requestAttributes(target) },
        error: answer.kind === 'refused' ? answer.reason : null,
      });
  }

  /** The worker has it from now on. @returns the step that it is for the worker and its host */
  send({ stream }: Place): string | null {
    this.#sent = this.#traces.step(this.traceparent);
    if (this.#sent === null) return null;
    stream.tellTrace?.(this.#sent.traceparent);
    return this.#sent.traceparent;
  }

  end({ request, requestId, response }: EndedRequest, { endpointId, outcome, worker }: VisitEnd): void {
    const status = statusOf(outcome, response);
    const method = request.method ?? '';
    const error = outcome.kind === 'failed' ? outcome.code : errorOf(status);
    const told = {
      'http.request.method': method,
      'berth.request.outcome': labelOf(outcome),
      ...(status === null ? {} : { 'http.response.status_code': status }),
    };
    if (endpointId !== null && worker !== null) {
      const { hostId, id: workerId } = worker;
      const attributes = { ...told, ...requestAttributes({ endpointId, hostId, workerId }) };
      this.#sent?.end({ name: 'send request', kind: 'client', attributes, error });
    }
    const attributes = {
      ...told,
      ...(endpointId === null ? {} : { 'berth.endpoint.id': endpointId }),
      // What a caller calls its request is its own text.
      ...(isOurRequestId(requestId) ? { 'berth.request.id': requestId } : {}),
    };
    this.#whole.end({ name: `${method} load-balanced`, kind: 'server', attributes, error });
  }
}

const errorOf = (status: number | null): string | null =>
  status !== null && status >= SERVER_ERROR ? `${status}` : null;
