import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { expect } from '@jest/globals';
import type { BalancedEndpoint } from './balanced-endpoint.js';

const WAIT = { deadlineMs: 120_000, intervalMs: 100 };
const PER_SECOND_DEFAULT = 200;
/** A test that does not come to its end sends no more than this. */
const SENT_MAX = 24_000;
/** At each router. Where a machine is slower, the load waits: the line of an endpoint has its bound. */
const AT_ONCE_MAX = 128;
const TICK_MS = 10;
const MS_PER_SECOND = 1_000;
const ROUTERS = 2;
const PARTS = 4;
const NONCE_LENGTH = 20;
const TRIES_MAX = 50;
const PAUSE_MS = 100;
const PROBLEM = 'application/problem+json';

interface Asked {
  /** Counts from 0, in the order in which they were sent. */
  readonly index: number;
  readonly nonce: string;
  readonly router: number;
}

/**
 * `cut`: the connection failed; `workerId` is empty where no head had come. `wrong`: neither the whole answer to that request
 * nor a problem of ours nor a connection that failed.
 */
export type Fate = Asked &
  (
    | { readonly kind: 'right'; readonly workerId: string; readonly version: string }
    | {
        readonly kind: 'problem';
        readonly workerId: string;
        readonly status: number;
        readonly code: string;
        readonly detail: string;
      }
    | { readonly kind: 'cut'; readonly workerId: string; readonly code: string; readonly hasBegun: boolean }
    | { readonly kind: 'wrong'; readonly workerId: string; readonly detail: string }
  );

interface Problem {
  readonly type?: string;
  readonly detail?: string;
}

/** What is known of an answer while it comes. */
interface Arriving {
  answer: IncomingMessage | null;
  body: string;
}

interface OpenLoadOptions {
  /** Absent: 200. */
  readonly perSecond?: number;
  /** Where nobody listens the other router gets the request, as from a proxy. */
  readonly asksNext?: boolean;
  /** Whether a router is to be sent anything; where it is not, the other one gets the request. */
  readonly isReady?: (router: number) => boolean;
}

/**
 * Requests that are sent so many times a second, whatever becomes of those before, to each router in turn; each has a nonce that its
 * answer must say so many times, now with its length and now in chunks.
 */
export class OpenLoad {
  readonly fates: Fate[] = [];
  readonly #endpoint: BalancedEndpoint;
  readonly #options: OpenLoadOptions;
  readonly #agent = new Agent({ keepAlive: true });
  /** Of each router. */
  readonly #pending = Array.from({ length: ROUTERS }, () => new Set<Promise<void>>());
  readonly #sending: Promise<void>;
  #sent = 0;
  #hasEnded = false;

  constructor(endpoint: BalancedEndpoint, options: OpenLoadOptions = {}) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#sending = this.#send();
  }

  /** How many have been sent. */
  get sent(): number {
    return this.#sent;
  }

  of<Kind extends Fate['kind']>(kind: Kind): readonly Extract<Fate, { readonly kind: Kind }>[] {
    return this.fates.filter((each): each is Extract<Fate, { readonly kind: Kind }> => each.kind === kind);
  }

  failed(): readonly Fate[] {
    return this.fates.filter(({ kind }) => kind !== 'right');
  }

  /** Resolves when each of these workers has answered, by each of these routers, what was sent after this was called. */
  async goesOn(workerIds: readonly string[], routers: readonly number[] = [0, 1]): Promise<void> {
    const after = this.#sent;
    const wanted = workerIds.flatMap((workerId) => routers.map((router) => `${workerId} by ${router}`)).toSorted();
    await eventually(() => {
      const late = this.of('right').filter(({ index }) => index >= after);
      const seen = new Set(late.map(({ router, workerId }) => `${workerId} by ${router}`));
      expect(wanted.filter((each) => !seen.has(each))).toEqual([]);
    }, WAIT);
  }

  /** Resolves when each that was sent has met its fate. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#sending;
    await eventually(() => expect(this.#pending.map(({ size }) => size)).toEqual([0, 0]), WAIT);
    this.#agent.destroy();
  }

  async #send(): Promise<void> {
    const { perSecond = PER_SECOND_DEFAULT } = this.#options;
    let [dueMs, turn] = [systemClock.monotonicMs(), 0];
    while (!this.#hasEnded && this.#sent < SENT_MAX) {
      for (const nowMs = systemClock.monotonicMs(); dueMs < nowMs; dueMs += MS_PER_SECOND / perSecond) {
        turn += 1;
        this.#begin(this.#ready(turn % ROUTERS));
      }
      await systemClock.sleep(TICK_MS);
    }
  }

  #ready(router: number): number {
    const { isReady = () => true } = this.#options;
    return isReady(router) ? router : (router + 1) % ROUTERS;
  }

  #begin(router: number): void {
    const pending = this.#pending[router] ?? new Set();
    if (pending.size >= AT_ONCE_MAX) return;
    const done = this.#meet({ index: this.#sent, nonce: systemRandom.id(NONCE_LENGTH), router });
    this.#sent += 1;
    pending.add(done);
    void done.finally(() => pending.delete(done));
  }

  async #meet(asked: Asked): Promise<void> {
    let fate = await this.#ask(asked);
    for (let tries = 1; this.#options.asksNext === true && isRefused(fate) && tries < TRIES_MAX; tries += 1) {
      await systemClock.sleep(PAUSE_MS);
      fate = await this.#ask({ ...asked, router: (asked.router + tries) % ROUTERS });
    }
    this.fates.push(fate);
  }

  #ask(asked: Asked): Promise<Fate> {
    const { index, nonce, router } = asked;
    const framing = index % (2 * ROUTERS) < ROUTERS ? 'length' : 'chunked';
    const path = `/parts?parts=${PARTS}&framing=${framing}&nonce=${nonce}`;
    const arriving: Arriving = { answer: null, body: '' };
    return new Promise((resolve) => {
      const { host, port } = this.#endpoint.routerAt(router);
      const headers = this.#endpoint.headersOf({});
      const request = httpRequest({ host, port, path, headers, agent: this.#agent });
      const fail = (error: NodeJS.ErrnoException): void => {
        const code = error.code ?? error.message;
        resolve({ ...asked, kind: 'cut', workerId: workerOf(arriving), code, hasBegun: arriving.answer !== null });
      };
      request.on('error', fail).on('response', (answer) => {
        arriving.answer = answer;
        answer.setEncoding('utf8').on('data', (text: string) => (arriving.body += text));
        answer.on('error', fail).once('end', () => resolve(fateOf(asked, arriving)));
      });
      request.end();
    });
  }
}

const isRefused = (fate: Fate): boolean => fate.kind === 'cut' && fate.code === 'ECONNREFUSED';

const workerOf = ({ answer }: Arriving): string => String(answer?.headers['x-runpod-worker-id'] ?? '');

function fateOf(asked: Asked, arriving: Arriving): Fate {
  const { answer, body } = arriving;
  const { complete = false, headers = {}, statusCode: status = 0 } = answer ?? {};
  const workerId = workerOf(arriving);
  if (!complete) return { ...asked, kind: 'wrong', workerId, detail: 'an answer that was cut looks whole' };
  const code = String(headers['x-berth-error']);
  if (status === 200 && headers['x-nonce'] === asked.nonce && body === asked.nonce.repeat(PARTS) && workerId !== '') {
    return { ...asked, kind: 'right', workerId, version: String(headers['x-version']) };
  }
  const problem = headers['content-type']?.startsWith(PROBLEM) === true ? (JSON.parse(body) as Problem) : null;
  if (problem?.type?.endsWith(`/problems/${code}`) === true) {
    return { ...asked, kind: 'problem', workerId, status, code, detail: String(problem.detail) };
  }
  return { ...asked, kind: 'wrong', workerId, detail: `${status} ${JSON.stringify(headers)} ${body}` };
}
