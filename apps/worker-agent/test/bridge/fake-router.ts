import { createHash } from 'node:crypto';
import type {
  AttemptEnd,
  AttemptRef,
  EndAnswer,
  StopMessage,
  TakenJob,
  WishAnswer,
  WithdrawMessage,
  WorkerWish,
} from '@berth/contracts';
import {
  BLOB_PART_BYTES,
  INLINE_INPUT_MAX_BYTES,
  encodeJson,
  type EndpointId,
  type JobId,
  type Payload,
  type RawJson,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type {
  RouterAskOptions,
  JobCalls,
  PartedCalls,
  PartsOptions,
  RouterLink,
} from '../../src/job-client/router-link.port.js';

export interface NewJob {
  readonly id?: string;
  readonly input: RawJson;
  readonly extras?: Record<string, unknown>;
  readonly executionTimeoutMs?: number;
  readonly expiresInMs?: number;
  readonly traceparent?: string;
  readonly endpointId?: string;
}

type Verb = keyof JobCalls | keyof PartedCalls;

const TTL_MS = 86_400_000;

interface Entry {
  readonly job: NewJob & { readonly id: string };
  state: 'queued' | 'running' | 'ended' | 'cancelled';
  attempt: number;
  /** Monotonic; never before the job was first given away. */
  expiresAtMs: number;
}

/** What the router knows of a job that has ended. */
export interface Ended {
  readonly result: AttemptEnd['result'];
  readonly output: unknown;
  readonly outputText: string | null;
  readonly chunks: number;
  /** On the monotonic clock. */
  readonly atMs: number;
}

/** A router in memory: one queue, fencing by attempt, and a log of all that it was asked. */
export class FakeRouter implements RouterLink {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<(message: StopMessage) => void>();
  readonly #parts = new Map<string, Buffer>();
  #arrival = new AbortController();
  #nextId = 1;
  #isClosed = false;
  #withdrawn = 0;

  /** What was asked; of what is listed in one message, each by itself. */
  readonly calls: {
    readonly verb: Verb;
    readonly request: unknown;
    readonly traceparent: string | null;
    readonly atMs: number;
  }[] = [];
  readonly chunks = new Map<string, Map<number, RawJson>>();
  readonly progress = new Map<string, unknown[]>();
  readonly ended = new Map<string, Ended>();
  readonly losses: {
    readonly jobId: string;
    readonly attempt: number;
    readonly reason: string;
    readonly isCharged: boolean;
  }[] = [];
  /** The log lines that came with each loss. */
  readonly logTails: (readonly string[])[] = [];
  /** Cancelled and timed-out attempts whose worker has let go: when that was, and what it wrote last. */
  readonly letGo: {
    readonly jobId: string;
    readonly attempt: number;
    readonly atMs: number;
    readonly logTail: readonly string[];
  }[] = [];
  readonly superseded: string[] = [];
  /** Verbs that fail before (`down`) or after (`lossy`) they took effect. */
  down = new Set<Verb>();
  lossy = new Set<Verb>();
  /** Verbs that are not answered until this resolves. */
  slow = new Map<Verb, Promise<unknown>>();
  /** Told of each job as it is given away, before the answer is on its way. */
  onGiven: (jobId: string) => void = () => undefined;
  /** How many wishes or ends came in each message. */
  readonly messages: { readonly verb: Verb; readonly entries: number }[] = [];
  /** What renewals answer, other than the truth. */
  renewal: 'unknown' | null = null;
  /** How a host that is not known to the router is answered. */
  isPlaced = true;
  /** False as for a withdrawal that is lost, or that comes while a job is being taken. */
  hearsWithdrawals = true;
  readonly withdrawals: WithdrawMessage[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A caller replaces what is left of the job's life. */
  prolong(jobId: string, leftMs: number): void {
    this.#entry(jobId).expiresAtMs = this.#clock.monotonicMs() + leftMs;
  }

  submit(job: NewJob): string {
    const id = job.id ?? `job-${this.#nextId++}`;
    this.#entries.set(id, { job: { ...job, id }, state: 'queued', attempt: 1, expiresAtMs: Number.POSITIVE_INFINITY });
    this.#wake();
    return id;
  }

  /** As the job API's cancel does: the fact first, then the message. */
  cancel(jobId: string, { isSilent = false } = {}): void {
    const entry = this.#entry(jobId);
    const stop: StopMessage = { jobs: [{ ...this.#refOf(entry), reason: 'cancelled' }] };
    entry.state = 'cancelled';
    if (!isSilent) for (const listener of this.#listeners) listener(stop);
  }

  /** A stop message of the test's own making. */
  sendStop(ref: {
    readonly endpointId: string;
    readonly jobId: string;
    readonly attempt: number;
    readonly token: string;
  }): void {
    for (const listener of this.#listeners) listener({ jobs: [{ ...(ref as AttemptRef), reason: 'cancelled' }] });
  }

  /** As if the lease had run out and another host had the job. */
  takeAway(jobId: string): void {
    const entry = this.#entry(jobId);
    entry.attempt += 1;
  }

  /** Queued again, as its owner does after taking it away. */
  requeue(jobId: string): void {
    this.#entry(jobId).state = 'queued';
    this.#wake();
  }

  /** Answers every held take with none, now and from now on. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  stateOf(jobId: string): Entry['state'] {
    return this.#entry(jobId).state;
  }

  attemptOf(jobId: string): number {
    return this.#entry(jobId).attempt;
  }

  chunkTexts(jobId: string): readonly string[] {
    const found = this.chunks.get(jobId) ?? new Map<number, RawJson>();
    return [...found].sort(([left], [right]) => left - right).map(([, body]) => body);
  }

  countOf(verb: Verb): number {
    return this.calls.filter((call) => call.verb === verb).length;
  }

  async ask<Asked extends keyof JobCalls>(
    verb: Asked,
    request: JobCalls[Asked][0],
    { timeoutMs, traceparent = null }: RouterAskOptions,
  ): Promise<JobCalls[Asked][1]> {
    this.calls.push({ verb, request, traceparent, atMs: this.#clock.monotonicMs() });
    if (this.down.has(verb)) throw new Error(`no router answered ${verb} within ${timeoutMs} ms`);
    const reply: unknown = await this.#answer(verb, copyOf(request));
    if (this.lossy.has(verb)) throw new Error(`the answer to ${verb} was lost`);
    return copyOf(reply) as JobCalls[Asked][1];
  }

  async askParts<Asked extends keyof PartedCalls>(
    verb: Asked,
    request: PartedCalls[Asked][0],
    { onPart, timeoutMs }: PartsOptions<PartedCalls[Asked][1]>,
  ): Promise<void> {
    const entries: readonly (WorkerWish | AttemptEnd)[] = 'wishes' in request ? request.wishes : request.ends;
    const atMs = this.#clock.monotonicMs();
    this.messages.push({ verb, entries: entries.length });
    for (const entry of entries) {
      const traceparent = 'traceparent' in entry ? entry.traceparent : null;
      this.calls.push({ verb, request: entry, traceparent, atMs });
    }
    if (this.down.has(verb)) throw new Error(`no router answered ${verb} within ${timeoutMs} ms`);
    await this.slow.get(verb);
    await Promise.all(
      entries.map(async (entry, place) => {
        const answer: WishAnswer | EndAnswer = await this.#answerEntry(copyOf(entry), place);
        if (!this.lossy.has(verb)) onPart(copyOf({ answers: [answer] }) as unknown as PartedCalls[Asked][1]);
      }),
    );
    if (this.lossy.has(verb)) throw new Error(`the answer to ${verb} was lost`);
  }

  async #answerEntry(entry: WorkerWish | AttemptEnd, place: number): Promise<WishAnswer | EndAnswer> {
    return 'takeId' in entry ? this.#take(entry) : ({ ...this.#done(entry), place } as EndAnswer);
  }

  withdraw(message: WithdrawMessage): void {
    this.withdrawals.push(message);
    if (!this.hearsWithdrawals) return;
    this.#withdrawn = this.withdrawals.length;
    this.#wake();
  }

  onStop(listener: (message: StopMessage) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #answer(verb: keyof JobCalls, body: unknown): unknown {
    switch (verb) {
      case 'renew':
        return { outcomes: (body as JobCalls['renew'][0]).leases.map((ref) => this.#renew(ref)) };
      case 'chunk':
        return this.#report(body as JobCalls['chunk'][0], (entry, chunk) => {
          const chunks = this.chunks.get(entry.job.id) ?? new Map<number, RawJson>();
          this.chunks.set(entry.job.id, chunks.set(chunk.index, chunk.body));
        });
      case 'progress':
        return this.#report(body as JobCalls['progress'][0], (entry, { output }) => {
          const shown = this.progress.get(entry.job.id) ?? [];
          this.progress.set(entry.job.id, [...shown, output.kind === 'inline' ? JSON.parse(output.json) : output]);
        });
      case 'download':
        return { base64: this.#inputPart(body as JobCalls['download'][0]) };
      case 'upload':
        return this.#report(body as JobCalls['upload'][0], (entry, { part, base64 }) => {
          this.#parts.set(`${entry.job.id}/out${entry.attempt}/${part}`, Buffer.from(base64, 'base64'));
        });
      default:
        return verb satisfies never;
    }
  }

  async #take({ endpointId, workerId, slots, takeId, waitMs }: WorkerWish): Promise<WishAnswer> {
    if (!this.isPlaced) return { takeId, kind: 'not-placed' };
    const heardBefore = this.#withdrawn;
    const endsAtMs = this.#clock.monotonicMs() + waitMs;
    for (;;) {
      const heard = this.withdrawals.slice(heardBefore, this.#withdrawn);
      if (heard.some((each) => each.workerId === workerId && each.endpointId === endpointId))
        return { takeId, kind: 'none' };
      const queued = [...this.#entries.values()].filter(
        ({ state, job }) => state === 'queued' && (job.endpointId ?? endpointId) === endpointId,
      );
      if (queued.length > 0)
        return { takeId, kind: 'jobs', jobs: queued.slice(0, slots).map((entry) => this.#give(entry, endpointId)) };
      const leftMs = endsAtMs - this.#clock.monotonicMs();
      if (leftMs <= 0 || this.#isClosed) return { takeId, kind: 'none' };
      await this.#clock.sleep(leftMs, this.#arrival.signal);
    }
  }

  #give(entry: Entry, endpointId: EndpointId): TakenJob {
    const { job } = entry;
    entry.state = 'running';
    this.onGiven(job.id);
    entry.expiresAtMs = this.#clock.monotonicMs() + (job.expiresInMs ?? TTL_MS);
    return {
      ...this.#refOf(entry),
      endpointId,
      input: inputPayload(job.input),
      extras: encodeJson(job.extras ?? {}),
      executionTimeoutMs: job.executionTimeoutMs ?? 600_000,
      expiresInMs: job.expiresInMs ?? TTL_MS,
      delayTimeMs: 12,
      retries: entry.attempt - 1,
      traceparent: job.traceparent ?? null,
    };
  }

  #renew(ref: AttemptRef): 'renewed' | 'lost' | 'unknown' {
    if (this.renewal !== null) return this.renewal;
    return this.#isCurrent(ref) ? 'renewed' : 'lost';
  }

  #report<Request extends AttemptRef>(request: Request, record: (entry: Entry, request: Request) => void) {
    if (!this.#isCurrent(request)) return { outcome: 'superseded' };
    record(this.#entry(request.jobId), request);
    return { outcome: 'recorded' };
  }

  #done(request: AttemptEnd) {
    const { jobId, result, chunks } = request;
    if (result.kind === 'stopped') return this.#letGo(request, result);
    // A repeat of the answer that was lost is recorded again, as by the real one.
    const isRepeat = this.ended.has(jobId) && this.#entry(jobId).attempt === request.attempt;
    if (isRepeat) return { outcome: 'recorded' };
    const reply = this.#report(request, (entry) => {
      if (result.kind === 'lost') {
        this.losses.push({ jobId, attempt: request.attempt, reason: result.reason, isCharged: result.isCharged });
        this.logTails.push(result.logTail ?? []);
        entry.attempt += 1;
        entry.state = 'queued';
        this.chunks.delete(jobId);
        this.#wake();
      } else {
        const payload = result.kind === 'completed' || result.kind === 'failed' ? result.output : null;
        const outputText = payload === null ? null : this.#textOf(entry, payload);
        const output: unknown = outputText === null ? undefined : JSON.parse(outputText);
        this.ended.set(jobId, { result, output, outputText, chunks, atMs: this.#clock.monotonicMs() });
        entry.state = 'ended';
      }
    });
    if (reply.outcome === 'superseded') this.superseded.push(jobId);
    return reply;
  }

  /** Only what has been cancelled or has timed out can be let go. */
  #letGo(ref: AttemptRef, { agoMs, logTail = [] }: { readonly agoMs: number; readonly logTail?: readonly string[] }) {
    const entry = this.#entry(ref.jobId);
    const isOver = entry.state === 'cancelled' || this.ended.get(ref.jobId)?.result.kind === 'timed-out';
    if (!isOver || entry.attempt !== ref.attempt) return { outcome: 'superseded' };
    const { jobId, attempt } = ref;
    const isRepeat = this.letGo.some((each) => each.jobId === jobId && each.attempt === attempt);
    if (!isRepeat) this.letGo.push({ jobId, attempt, atMs: this.#clock.monotonicMs() - agoMs, logTail });
    return { outcome: 'recorded' };
  }

  #textOf(entry: Entry, payload: Payload): string {
    if (payload.kind === 'inline') return payload.json;
    const { name, parts, sha256, sizeBytes } = payload.manifest;
    const found = Array.from({ length: parts }, (_, part) => this.#parts.get(`${entry.job.id}/${name}/${part}`));
    const bytes = Buffer.concat(found.map((part) => part ?? Buffer.from('missing part')));
    const hash = createHash('sha256').update(bytes).digest('hex');
    if (hash !== sha256 || bytes.byteLength !== sizeBytes) throw new Error(`output of ${entry.job.id} is not whole`);
    return bytes.toString('utf8');
  }

  #inputPart({ jobId, part }: JobCalls['download'][0]): string | null {
    const bytes = Buffer.from(this.#entry(jobId).job.input, 'utf8');
    const found = bytes.subarray(part * BLOB_PART_BYTES, (part + 1) * BLOB_PART_BYTES);
    return found.byteLength === 0 ? null : found.toString('base64');
  }

  #isCurrent(ref: AttemptRef): boolean {
    const entry = this.#entries.get(ref.jobId);
    if (entry === undefined || this.#clock.monotonicMs() >= entry.expiresAtMs) return false;
    return entry.state === 'running' && this.#refOf(entry).token === ref.token && entry.attempt === ref.attempt;
  }

  #refOf({ job, attempt }: Entry): AttemptRef {
    const endpointId = (job.endpointId ?? 'ep1') as EndpointId;
    return { endpointId, jobId: job.id as JobId, attempt, token: `token-${job.id}-${attempt}` };
  }

  #entry(jobId: string): Entry {
    const entry = this.#entries.get(jobId);
    if (entry === undefined) throw new Error(`no job ${jobId}`);
    return entry;
  }

  #wake(): void {
    const before = this.#arrival;
    this.#arrival = new AbortController();
    before.abort();
  }
}

/** As on the wire: nothing is shared with the sender. */
const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

function inputPayload(json: RawJson): Payload {
  const bytes = Buffer.from(json, 'utf8');
  if (bytes.byteLength <= INLINE_INPUT_MAX_BYTES) return { kind: 'inline', json };
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const parts = Math.ceil(bytes.byteLength / BLOB_PART_BYTES);
  return { kind: 'blob', manifest: { name: 'in', parts, sizeBytes: bytes.byteLength, sha256 } };
}
