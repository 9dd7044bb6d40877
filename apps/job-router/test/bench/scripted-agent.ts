import { createHash } from 'node:crypto';
import {
  jobSubject,
  outputBlobName,
  stopSubject,
  withdrawSubject,
  type AttemptRef,
  type DoneReply,
  type DoneResult,
  type DownloadReply,
  type JobVerb,
  type RenewReply,
  type ReportReply,
  type StopMessage,
  type TakeReply,
  type TakenJob,
  type WishAnswer,
} from '@berth/contracts';
import {
  BLOB_PART_BYTES,
  INLINE_OUTPUT_MAX_BYTES,
  PlatformError,
  encodeJson,
  type EndpointId,
  type ErrorCode,
  type HostId,
  type RawJson,
  type WorkerId,
} from '@berth/domain';
import { retry, systemClock, systemRandom } from '@berth/lifecycle';
import { AgentTransport, TransportError } from '@berth/messaging';
import type { NatsConnection } from '@nats-io/transport-node';

export interface AgentPlace {
  readonly hostId: HostId;
  readonly workerId: WorkerId;
  readonly endpointId: EndpointId;
}

export type TakeOutcome =
  | { readonly kind: 'jobs'; readonly jobs: readonly TakenJob[] }
  | { readonly kind: Exclude<WishAnswer['kind'], 'jobs' | 'unanswered'> };

/** One question is held this long at most. */
const ROUND_MS = 10_000;

/** How long an answer may be late. */
const TAKE_SLACK_MS = 15_000;
/** As agents do, it asks again where no owner was sure of itself. */
const TAKE_TRIES = 3;
/** As agents do, it does not wait longer for a renewal: the next one is due. */
const RENEW_MS = 4_000;

/** Speaks an agent's part of the protocol, one step at a time, as a test says. */
export class ScriptedAgent {
  readonly place: AgentPlace;
  readonly stops: StopMessage['jobs'][number][] = [];
  readonly #connection: NatsConnection;
  readonly #transport: AgentTransport;
  readonly #ends: (() => void)[] = [];
  #isServing = false;
  #served: Promise<unknown> = Promise.resolve();

  constructor(connection: NatsConnection, place: AgentPlace) {
    this.place = place;
    this.#connection = connection;
    this.#transport = new AgentTransport(connection);
    const end = this.#transport.listen(
      stopSubject(place.hostId),
      (message) => this.stops.push(...(message as StopMessage).jobs),
      () => undefined,
    );
    this.#ends.push(end);
  }

  /** As agents do, it asks again while its connection is lost. */
  async ask<Reply>(verb: JobVerb, body: unknown, timeoutMs = 30_000): Promise<Reply> {
    const subject = jobSubject(this.place.hostId, verb);
    return (await this.#again(() => this.#transport.request(subject, body, { timeoutMs }))) as Reply;
  }

  /** The first part of the answer, to a question that asks for one thing. */
  async askOne<Part>(verb: 'take' | 'done', body: unknown, timeoutMs = 30_000): Promise<Part> {
    const parts: Part[] = [];
    const onPart = (part: unknown): boolean => parts.push(part as Part) > 0;
    const onLate = (): void => undefined;
    const subject = jobSubject(this.place.hostId, verb);
    await this.#again(() => this.#transport.requestParts(subject, body, { timeoutMs, onPart, onLate }));
    const [first] = parts;
    if (first === undefined) throw new Error(`nothing was answered to ${verb}`);
    return first;
  }

  #again<T>(send: () => Promise<T>): Promise<T> {
    return retry(send, {
      clock: systemClock,
      random: systemRandom,
      isRetriable: (error) =>
        error instanceof TransportError && error.failure === 'not-connected' && !this.#connection.isClosed(),
      attemptsMax: 100,
      baseDelayMs: 100,
      maxDelayMs: 250,
    });
  }

  async take(more: { slots?: number; waitMs?: number; workerId?: WorkerId } = {}): Promise<TakeOutcome> {
    for (let tries = 0; tries < TAKE_TRIES; tries += 1) {
      const answer = await this.#takeOnce(more);
      if (answer.kind !== 'unanswered')
        return answer.kind === 'jobs' ? { kind: 'jobs', jobs: answer.jobs } : { kind: answer.kind };
    }
    throw new Error('no owner answered');
  }

  async #takeOnce(more: { slots?: number; waitMs?: number; workerId?: WorkerId }): Promise<WishAnswer> {
    const { endpointId, workerId } = this.place;
    const takeId = systemRandom.id(12);
    const wish = { takeId, endpointId, workerId, slots: 1, waitMs: 5_000, ...more };
    const { answers } = await this.askOne<TakeReply>('take', { wishes: [wish] }, wish.waitMs + TAKE_SLACK_MS);
    const [answer] = answers;
    if (answer?.takeId !== takeId) throw new Error('another wish was answered');
    return answer;
  }

  /** The next job; fails when none comes in time. */
  async takeOne(withinMs = 60_000): Promise<TakenJob> {
    for (let leftMs = withinMs; leftMs > 0; leftMs -= ROUND_MS) {
      const reply = await this.take({ waitMs: Math.min(leftMs, ROUND_MS) });
      const [job] = reply.kind === 'jobs' ? reply.jobs : [];
      if (job !== undefined) return job;
    }
    throw new Error(`no job within ${withinMs} ms`);
  }

  /** The worker goes: what it has asked for is not wanted any more. */
  withdraw(): void {
    const { hostId, endpointId, workerId } = this.place;
    this.#transport.tell(withdrawSubject(hostId), { endpointId, workerId });
  }

  async done(job: TakenJob, result: DoneResult, chunks = 0): Promise<ReportReply> {
    const end = { ...refOf(job), result, chunks, traceparent: null };
    const { answers } = await this.askOne<DoneReply>('done', { ends: [end] });
    const [answer] = answers;
    if (answer !== undefined && 'outcome' in answer) return { outcome: answer.outcome };
    throw new PlatformError(answer?.error.code as ErrorCode, answer?.error.detail ?? '');
  }

  complete(job: TakenJob, output: unknown): Promise<ReportReply> {
    return this.done(job, { kind: 'completed', output: { kind: 'inline', json: encodeJson(output) } });
  }

  chunk(job: TakenJob, index: number, body: RawJson): Promise<ReportReply> {
    return this.ask<ReportReply>('chunk', { ...refOf(job), index, body });
  }

  async renew(...jobs: readonly TakenJob[]): Promise<RenewReply['outcomes']> {
    return (await this.ask<RenewReply>('renew', { leases: jobs.map(refOf) }, RENEW_MS)).outcomes;
  }

  /** The input's JSON text, from the reply or in parts. */
  async inputOf(job: TakenJob): Promise<RawJson> {
    if (job.input.kind === 'inline') return job.input.json;
    const buffers: Buffer[] = [];
    for (let part = 0; part < job.input.manifest.parts; part += 1) {
      const { base64 } = await this.ask<DownloadReply>('download', { ...refOf(job), part });
      if (base64 === null) throw new Error('the input is gone');
      buffers.push(Buffer.from(base64, 'base64'));
    }
    return Buffer.concat(buffers).toString('utf8') as RawJson;
  }

  /** Sends an output inline, or in parts when it is large, as an agent does. */
  async completeWith(job: TakenJob, json: RawJson): Promise<ReportReply> {
    const bytes = Buffer.from(json, 'utf8');
    if (bytes.byteLength <= INLINE_OUTPUT_MAX_BYTES)
      return this.done(job, { kind: 'completed', output: { kind: 'inline', json } });
    const parts = Math.ceil(bytes.byteLength / BLOB_PART_BYTES);
    for (let part = 0; part < parts; part += 1) {
      const base64 = bytes.subarray(part * BLOB_PART_BYTES, (part + 1) * BLOB_PART_BYTES).toString('base64');
      await this.ask<ReportReply>('upload', { ...refOf(job), part, base64 });
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const manifest = { name: outputBlobName(job.attempt), parts, sizeBytes: bytes.byteLength, sha256 };
    return this.done(job, { kind: 'completed', output: { kind: 'blob', manifest } });
  }

  /** Takes and answers jobs until `stop`, `slots` at a time. */
  serve(run: (job: TakenJob) => Promise<DoneResult>, slots = 4): void {
    this.#isServing = true;
    this.#served = this.#serve(run, slots);
  }

  async stop(): Promise<void> {
    this.#isServing = false;
    await this.#served;
    for (const end of this.#ends) end();
  }

  async #serve(run: (job: TakenJob) => Promise<DoneResult>, slots: number): Promise<void> {
    while (this.#isServing) {
      const reply = await this.take({ slots, waitMs: 500 }).catch(() => null);
      if (reply?.kind !== 'jobs') continue;
      await Promise.all(reply.jobs.map((job) => this.#finish(job, run)));
    }
  }

  /** A result is repeated until somebody has heard it. */
  async #finish(job: TakenJob, run: (job: TakenJob) => Promise<DoneResult>): Promise<void> {
    const result = await run(job);
    for (let tries = 0; tries < 100; tries += 1) {
      const reply = await this.done(job, result).catch(() => null);
      if (reply !== null) return;
    }
    throw new Error(`no router heard of ${job.jobId}`);
  }
}

export const refOf = ({ endpointId, jobId, attempt, token }: TakenJob): AttemptRef => ({
  endpointId,
  jobId,
  attempt,
  token,
});

export const completed = (output: unknown): DoneResult => ({
  kind: 'completed',
  output: { kind: 'inline', json: encodeJson(output) },
});
