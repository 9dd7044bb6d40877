import {
  ENDPOINT_BOUNDS_DEFAULT,
  encodeJson,
  itemJobId,
  type EndpointCommand,
  type EndpointId,
  type JobId,
  type JobWish,
  type SubmitCommand,
} from '@berth/domain';
import type { Network } from './asking.js';
import type { LogWorld, SimulatedProcess } from './log-world.js';
import type { Answer, Question } from './told-answers.js';

const COMMAND_LIVES_MS = 10_000;
/** Clocks of edges and owners differ, and an answer takes its time. */
const ASKED_MS = 9_500;
const BOUNDS = { ...ENDPOINT_BOUNDS_DEFAULT, livingJobs: 40 };

/** Everybody who sends requests to one endpoint: each asks again, with the same ids, until there is an answer. */
export class CallerProcess {
  readonly #world: LogWorld;
  readonly #process: SimulatedProcess;
  readonly #network: Network;
  readonly #endpointId: EndpointId;
  readonly jobIds: JobId[] = [];
  readonly #keyed: { readonly name: string; readonly firstId: JobId; readonly wishes: readonly JobWish[] }[] = [];
  readonly #retrying = new Set<JobId>();
  #isPurging = false;
  #count = 0;
  readonly #isLarge: boolean;

  constructor(options: {
    readonly world: LogWorld;
    readonly process: SimulatedProcess;
    readonly network: Network;
    readonly endpointId: EndpointId;
    /** Its lists do not fit a batch. */
    readonly isLarge: boolean;
  }) {
    this.#world = options.world;
    this.#process = options.process;
    this.#network = options.network;
    this.#endpointId = options.endpointId;
    this.#isLarge = options.isLarge;
  }

  /** Does one thing or another. */
  act(): void {
    const { random } = this.#world;
    const jobId = this.jobIds.length === 0 ? null : random.pick(this.jobIds.slice(-12));
    const dice = random.integer(0, 99);
    if (dice < 30 || jobId === null) this.#submit([this.#wish()]);
    else if (dice < 38) this.#submit(Array.from({ length: random.integer(2, 6) }, () => this.#wish()));
    else if (dice < 50) this.#submitKeyed();
    else if (dice < 66) this.#ask({ kind: 'status', jobId });
    else if (dice < 74) this.#ask({ kind: 'health' });
    else if (dice < 84) this.#command({ kind: 'cancel', sentAtMs: this.#world.nowMs, jobId });
    else if (dice < 91) this.#retry(jobId);
    else if (dice < 96) this.#replaceLife(jobId);
    else this.#purge();
  }

  /** One question about everything, of which each must have an answer. */
  askAll(): void {
    for (const jobId of this.jobIds) this.#ask({ kind: 'status', jobId }, Number.POSITIVE_INFINITY);
    this.#ask({ kind: 'health' }, Number.POSITIVE_INFINITY);
  }

  delete(): void {
    this.#ask({ kind: 'command', command: { kind: 'delete' } }, Number.POSITIVE_INFINITY);
  }

  #submit(jobs: readonly JobWish[], key: SubmitCommand['key'] = null): void {
    for (const { jobId } of jobs) if (!this.jobIds.includes(jobId)) this.jobIds.push(jobId);
    const { nowMs, random } = this.#world;
    const wish = { takeId: `born-${nowMs}-${this.#count}`, secret: `b-${nowMs}-${this.#count}`, slots: 1 };
    const takers = random.chance(0.15) ? [{ ...wish, hostId: 'gone' as never, workerId: 'w' as never }] : [];
    this.#command({ kind: 'submit', sentAtMs: nowMs, jobs, key, takers, bounds: BOUNDS });
  }

  /** A new request, whole or its first piece; or any piece of one that came before, by this router or another. */
  #submitKeyed(): void {
    const { random } = this.#world;
    if (this.#keyed.length > 0 && random.chance(0.6)) {
      const { firstId, name, wishes } = random.pick(this.#keyed);
      const item = random.integer(0, wishes.length - 1);
      const count = random.integer(1, wishes.length - item);
      // Another router makes ids of its own, and is told those that the key stands for.
      const named = random.chance(0.1) ? (`${firstId.slice(0, -4)}other-0000` as JobId) : firstId;
      const fingerprint = random.chance(0.1) ? 'another' : 'body';
      this.#submitPiece(wishes.slice(item, item + count), {
        ...{ name, fingerprint, firstId: named, size: wishes.length, item },
      });
      return;
    }
    const size = random.integer(1, 4);
    const firstId = `${this.#endpointId}-k${(this.#count += 1)}-0000` as JobId;
    const request = { name: `key-${this.#count}`, firstId, wishes: Array.from({ length: size }, () => this.#wish()) };
    this.#keyed.push(request);
    const first = request.wishes.slice(0, random.chance(0.5) ? size : 1);
    this.#submitPiece(first, { name: request.name, fingerprint: 'body', firstId, size, item: 0 });
  }

  #submitPiece(wishes: readonly JobWish[], key: NonNullable<SubmitCommand['key']>): void {
    this.#submit(
      wishes.map((wish, at) => ({ ...wish, jobId: itemJobId(key, key.item + at) })),
      key,
    );
  }

  #retry(jobId: JobId): void {
    if (this.#retrying.has(jobId)) return;
    this.#retrying.add(jobId);
    const retryId = `r${(this.#count += 1)}`;
    this.#command({ kind: 'retry', sentAtMs: this.#world.nowMs, jobId, retryId }, () => this.#retrying.delete(jobId));
  }

  #replaceLife(jobId: JobId): void {
    const { nowMs, random } = this.#world;
    const leftMs = random.chance(0.5) ? random.integer(1_000, 20_000) : 3_600_000;
    this.#command({ kind: 'replace-life', sentAtMs: nowMs, jobId, leftMs });
  }

  #purge(): void {
    if (this.#isPurging) return;
    this.#isPurging = true;
    const purgeId = `p${(this.#count += 1)}`;
    this.#command({ kind: 'purge', sentAtMs: this.#world.nowMs, purgeId }, () => {
      this.#isPurging = false;
    });
  }

  #command(command: EndpointCommand, whenOver: () => void = () => undefined): void {
    const question = { kind: 'command', command } as const;
    // What was sent last may still be on its way when it is given up.
    const later = (): void => this.#world.post(this.#process, COMMAND_LIVES_MS, whenOver);
    this.#ask(question, this.#world.nowMs + ASKED_MS, later);
  }

  #ask(question: Question, untilMs = this.#world.nowMs + ASKED_MS, whenOver: () => void = () => undefined): void {
    const onAnswer = (answer: Answer): void => {
      whenOver();
      this.#follow(question, answer);
    };
    const { from, endpointId } = { from: this.#process, endpointId: this.#endpointId };
    this.#network.ask({ from, endpointId, question, untilMs, onAnswer, onGivenUp: whenOver });
  }

  /** Asks once more what was answered, now and then: it must be answered as before. */
  #follow(question: Question, { kind }: Answer): void {
    const { random } = this.#world;
    if (question.kind !== 'command' || kind === 'refused' || !random.chance(0.1)) return;
    if (!('sentAtMs' in question.command) || question.command.sentAtMs + ASKED_MS < this.#world.nowMs) return;
    if (question.command.kind === 'retry' || question.command.kind === 'purge') return;
    const untilMs = question.command.sentAtMs + ASKED_MS;
    this.#network.ask({
      ...{ from: this.#process, endpointId: this.#endpointId, question, untilMs },
      onAnswer: () => undefined,
    });
  }

  #wish(): JobWish {
    const { random } = this.#world;
    const size = this.#isLarge && random.chance(0.5) ? random.integer(60_000, 240_000) : random.chance(0.2) ? 400 : 5;
    const text = 'i'.repeat(size);
    return {
      jobId: `${this.#endpointId}-j${(this.#count += 1)}` as JobId,
      origin: random.chance(0.3) ? 'runsync' : 'run',
      retentionMs: random.pick([20_000, 60_000, 1_800_000]),
      executionTimeoutMs: random.chance(0.2) ? 6_000 : 600_000,
      isLowPriority: random.chance(0.25),
      webhook: random.chance(0.3) ? 'https://example.com/hook' : null,
      bodyBytes: size + 2,
      ttlMs: random.chance(0.2) ? random.integer(10_000, 60_000) : 86_400_000,
      body: {
        ...{ input: { kind: 'inline', json: encodeJson(text) }, extras: encodeJson({}) },
        ...{ sealedExtras: null, traceparent: null },
      },
    };
  }
}
