import type { AnswerOf, AssignedJob, HoldAnswer, OwnerCommand, OwnerVerb, QuestionOf } from '@berth/contracts';
import {
  ENDPOINT_BOUNDS_DEFAULT,
  PlatformError,
  newEndpointState,
  performCommand,
  performRead,
  performRenewals,
  viewAssignment,
  type AttemptProof,
  type CommandOutcome,
  type CommandContext,
  type EndpointCommand,
  type EndpointId,
  type EndpointState,
  type JobBody,
  type JobData,
  type JobId,
  type LogFact,
  type Performance,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { Owners, type QuestionOptions } from '../../src/owners/owners.port.js';

/** A take that is held. */
interface Held {
  readonly endpointId: EndpointId;
  readonly question: QuestionOf<'take'>;
  readonly over: AbortController;
}

/** Owners of logs that commit everything at once: real endpoints, without a broker. */
export class ModelOwners extends Owners {
  readonly facts: LogFact[] = [];
  readonly asked: { readonly verb: OwnerVerb; readonly endpointId: EndpointId; readonly options: QuestionOptions }[] =
    [];
  /** Nobody answers for these, however long one asks. */
  readonly silent = new Set<EndpointId>();
  /** So many answers are lost of what is done. */
  lostAnswers = 0;
  readonly watchers: string[] = [];
  /** What one attempt may stream. */
  chunkBytesMax = Number.POSITIVE_INFINITY;
  readonly #clock: Clock;
  readonly #states = new Map<EndpointId, EndpointState>();
  /** An endpoint keeps the small ones only: its owner reads the others in the log. */
  readonly #bodies = new Map<JobId, JobBody>();
  readonly #streamed = new Map<string, number>();
  readonly #held = new Set<Held>();
  /** Of whoever asked last for a take, by its id. */
  readonly #secrets = new Map<string, string>();

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  /** Takes that are held. */
  get waiting(): number {
    return this.#held.size;
  }

  job(endpointId: EndpointId, jobId: string): JobData | undefined {
    return this.#state(endpointId).jobs.get(jobId as JobId)?.data;
  }

  perform(endpointId: EndpointId, command: EndpointCommand | OwnerCommand): CommandOutcome {
    const whole =
      command.kind === 'submit'
        ? { ...command, takers: [], bounds: ENDPOINT_BOUNDS_DEFAULT }
        : (command as EndpointCommand);
    if (whole.kind === 'submit') for (const { body, jobId } of whole.jobs) this.#bodies.set(jobId, body);
    const outcome = this.#settle((context) => performCommand(this.#state(endpointId), whole, context));
    for (const held of this.#held) if (held.endpointId === endpointId) this.#tryAgain(held);
    return outcome;
  }

  override async ask<Verb extends OwnerVerb>(
    ...[endpointId, verb, question, options = {}]: Parameters<typeof Owners.prototype.ask<Verb>>
  ): Promise<AnswerOf<Verb>> {
    this.asked.push({ verb, endpointId, options });
    if (this.silent.has(endpointId)) await untilAborted(options.signal);
    const answer = (await this.#answer(endpointId, verb, question)) as AnswerOf<Verb>;
    if (this.lostAnswers === 0) return answer;
    this.lostAnswers -= 1;
    throw new PlatformError('service-unavailable', 'nobody has answered');
  }

  #answer(endpointId: EndpointId, verb: OwnerVerb, question: unknown): unknown {
    switch (verb) {
      case 'perform':
        return this.perform(endpointId, (question as QuestionOf<'perform'>).command);
      case 'take':
        return this.#take(endpointId, question as QuestionOf<'take'>);
      case 'take-back': {
        const { asker, command } = question as QuestionOf<'take-back'>;
        const isLast = this.#secrets.get(asker.takeId) === asker.secret;
        return isLast ? this.perform(endpointId, command) : { kind: 'superseded' };
      }
      case 'withdraw': {
        const { hostId, workerId } = question as QuestionOf<'withdraw'>;
        for (const held of this.#held) {
          const { wish } = held.question;
          if (held.endpointId === endpointId && wish.hostId === hostId && wish.workerId === workerId) held.over.abort();
        }
        return null;
      }
      case 'renew': {
        const { proofs } = question as QuestionOf<'renew'>;
        return this.#settle((context) => performRenewals(this.#state(endpointId), proofs, context));
      }
      case 'hold':
        return this.#hold(endpointId, question as QuestionOf<'hold'>);
      case 'find':
      case 'describe':
      case 'list':
      case 'count':
      case 'deliveries':
        throw new Error(`hosts do not ask to ${verb}`);
      default:
        return verb satisfies never;
    }
  }

  async #take(endpointId: EndpointId, question: QuestionOf<'take'>): Promise<readonly AssignedJob[]> {
    const held = { endpointId, question, over: new AbortController() };
    this.#secrets.set(question.wish.takeId, question.wish.secret);
    const first = this.#give(held);
    if (first.length > 0 || question.waitMs === 0) return first;
    this.#held.add(held);
    await this.#clock.sleep(question.waitMs, held.over.signal);
    this.#held.delete(held);
    return this.#give(held, 0);
  }

  #tryAgain(held: Held): void {
    if (this.#give(held).length > 0) held.over.abort();
  }

  #give({ endpointId, question: { wish } }: Held, slots = wish.slots): readonly AssignedJob[] {
    const command = { kind: 'take', sentAtMs: this.#clock.nowMs(), wishes: [{ ...wish, slots }] } as const;
    const state = this.#state(endpointId);
    const outcome = this.#settle((context) => performCommand(state, command, context));
    const given = outcome.kind === 'takes' ? (outcome.takes[0]?.jobs ?? []) : [];
    return given.flatMap(({ jobId }) => {
      const assignment = viewAssignment(state, jobId, this.#clock.nowMs());
      const body = this.#bodies.get(jobId);
      if (assignment === null || body === undefined) return [];
      const { hostId: _host, ...rest } = assignment;
      return [{ ...rest, body }];
    });
  }

  #hold(endpointId: EndpointId, { chunk, proof }: QuestionOf<'hold'>): HoldAnswer {
    const job = this.#settle((context) =>
      performRead(this.#state(endpointId), (state) => findHeld(state, proof), context),
    );
    if (job === null) return { kind: 'superseded' };
    const { attempt, jobId } = proof;
    const name = `${endpointId}/${jobId}/${attempt}`;
    const streamed = (this.#streamed.get(name) ?? 0) + (chunk?.bytes ?? 0);
    const [limit, maxBytes] = ['chunkBytesPerAttempt', this.chunkBytesMax] as const;
    if (chunk !== null && streamed > maxBytes) return { kind: 'full', limit, maxBytes };
    this.#streamed.set(name, streamed);
    const input = this.#bodies.get(jobId)?.input;
    const manifest = input?.kind === 'blob' ? input.manifest : null;
    return { kind: 'held', createdAtMs: job.data.createdAtMs, input: manifest, watchers: this.watchers };
  }

  #state(endpointId: EndpointId): EndpointState {
    const known = this.#states.get(endpointId) ?? newEndpointState(0);
    this.#states.set(endpointId, known);
    return known;
  }

  #settle<Answer>(act: (context: CommandContext) => Performance<Answer>): Answer {
    for (;;) {
      const performed = act({ nowMs: this.#clock.nowMs(), write: (fact) => this.#write(fact) });
      if (performed.kind === 'illegal') throw new Error(performed.why);
      if (performed.kind === 'performed') return performed.answer;
    }
  }

  #write(fact: LogFact): { sequence: number } {
    this.facts.push(fact);
    return { sequence: this.facts.length };
  }
}

function findHeld(state: EndpointState, { attempt, hostId, jobId, token }: AttemptProof) {
  const job = state.jobs.get(jobId);
  const current = job?.data.current;
  const isHeld = current?.token === token && current.hostId === hostId && job?.data.attempt === attempt;
  return job !== undefined && isHeld && job.data.state === 'IN_PROGRESS' ? job : null;
}

async function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  await new Promise<void>((resolve) => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
  throw new PlatformError('service-unavailable', 'nobody waits any more');
}
