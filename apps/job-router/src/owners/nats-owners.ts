import type { AnswerOf, OwnerReply, OwnerVerb, QuestionOf } from '@berth/contracts';
import { PlatformError, type EndpointId } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import { encodeOwnerQuestion, type OwnerRequests } from '@berth/messaging';
import { Owners, type QuestionOptions } from './owners.port.js';
import { storeFull } from '../stores/index.js';
import type { QuestionMetrics } from './metrics.js';

/** Asks the owner in this process; `silent` where that is none, or does not know. */
export type LocalOwner = <Verb extends OwnerVerb>(
  endpointId: EndpointId,
  verb: Verb,
  question: QuestionOf<Verb>,
) => Promise<OwnerReply<AnswerOf<Verb>> | 'silent'>;

/** How many questions may be under way that are answered at once, and that are held. */
export interface QuestionBounds {
  readonly answered: number;
  readonly held: number;
}

export interface NatsOwnersOptions {
  readonly local: LocalOwner;
  readonly requests: Pick<OwnerRequests, 'ask'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: QuestionMetrics;
  /** Other than the usual only in a test. */
  readonly bounds?: QuestionBounds | undefined;
}

/** All tries of one question together: an owner that died is followed by the next one within this. */
const PATIENCE_MS = 8_000;
const TRY_MS = 1_500;
/** The time that an answer that was held may take beyond its hold. */
const HELD_SLACK_MS = 2_000;
const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 400;
const JITTER = 0.2;

/**
 * Questions under way at one time. The share of one tenant is bounded by its rate limits. Those that are held have a
 * bound of their own: workers that wait must keep no caller out.
 */
const BOUNDS: QuestionBounds = { answered: 8_192, held: 16_384 };

const RETRY_SECONDS = 1;
/** A stopped log is read again after a minute: it may have been repaired. */
const STOPPED_RETRY_SECONDS = 60;

type Refused = Extract<OwnerReply<never>, { readonly kind: 'refused' }>['reason'];
type FailedTry = Exclude<Refused, 'full' | 'stopped'> | 'silent' | 'no-responders' | 'disconnected';

type Tried<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly by: 'here' | 'elsewhere' }
  | { readonly kind: 'again'; readonly cause: FailedTry }
  | { readonly kind: 'failed'; readonly outcome: 'full' | 'stopped' | 'too-large'; readonly error: PlatformError };

interface OwnerExchange<Verb extends OwnerVerb> extends QuestionOptions {
  readonly endpointId: EndpointId;
  readonly verb: Verb;
  readonly question: QuestionOf<Verb>;
  readonly heldMs: number;
  /** Monotonic. */
  readonly untilMs: number;
}

/** The owner is asked in this process where it may be, and over the broker where it is not. */
export class NatsOwners extends Owners {
  readonly #options: NatsOwnersOptions;
  readonly #underWay = { answered: 0, held: 0 };

  constructor(options: NatsOwnersOptions) {
    super();
    this.#options = options;
  }

  /** Questions under way. */
  get inFlight(): number {
    return this.#underWay.answered + this.#underWay.held;
  }

  override async ask<Verb extends OwnerVerb>(
    ...[endpointId, verb, question, options]: Parameters<typeof Owners.prototype.ask<Verb>>
  ): Promise<AnswerOf<Verb>> {
    const heldMs = options?.heldMs ?? 0;
    const end = this.#begin(verb, heldMs > 0 ? 'held' : 'answered');
    try {
      const untilMs = this.#options.clock.monotonicMs() + heldMs + PATIENCE_MS;
      return await this.#askUntilAnswered({ ...options, endpointId, verb, question, heldMs, untilMs });
    } finally {
      end();
    }
  }

  /** @throws PlatformError `service-unavailable` where too many are under way */
  #begin(verb: OwnerVerb, kind: keyof QuestionBounds): () => void {
    const { bounds = BOUNDS, metrics } = this.#options;
    if (this.#underWay[kind] >= bounds[kind]) {
      metrics.questions.inc({ verb, outcome: 'crowded' });
      throw unavailable('Too many requests wait here for the owners of their jobs; try again.');
    }
    this.#underWay[kind] += 1;
    return () => (this.#underWay[kind] -= 1);
  }

  async #askUntilAnswered<Verb extends OwnerVerb>(asked: OwnerExchange<Verb>): Promise<AnswerOf<Verb>> {
    const { metrics } = this.#options;
    const { signal, verb } = asked;
    if (signal?.aborted === true) throw this.#givenUp(asked, false);
    const sending = new Sending(asked);
    let wasBusy = false;
    for (let tries = 1; ; tries += 1) {
      const tried = (await this.#askHere(asked)) ?? (await this.#askElsewhere(asked, sending));
      if (tried.kind === 'answered') {
        metrics.questions.inc({ verb, outcome: tried.by });
        return tried.answer;
      }
      if (tried.kind === 'failed') {
        metrics.questions.inc({ verb, outcome: tried.outcome });
        throw tried.error;
      }
      metrics.tries.inc({ verb, cause: tried.cause });
      wasBusy ||= tried.cause === 'busy';
      if (!(await this.#pause(asked, tries))) throw this.#givenUp(asked, wasBusy);
    }
  }

  async #askElsewhere<Verb extends OwnerVerb>(
    { endpointId, heldMs, signal, untilMs, verb }: OwnerExchange<Verb>,
    sending: Sending<Verb>,
  ): Promise<Tried<AnswerOf<Verb>>> {
    const leftMs = untilMs - this.#options.clock.monotonicMs();
    const timeoutMs = Math.min(leftMs, heldMs > 0 ? heldMs + HELD_SLACK_MS : TRY_MS);
    if (timeoutMs <= 0) return { kind: 'again', cause: 'silent' };
    const outcome = await this.#options.requests.ask({ endpointId, verb, body: sending.body, timeoutMs, signal });
    switch (outcome.kind) {
      case 'reply':
        return triedBy('elsewhere', outcome.reply);
      case 'too-large':
        return { kind: 'failed', outcome: 'too-large', error: tooLarge(sending.body.byteLength, outcome.maxBytes) };
      case 'silent':
      case 'no-responders':
      case 'disconnected':
        return { kind: 'again', cause: outcome.kind };
    }
  }

  /** Null where this process does not know. Nothing is lost on the way here, so one try has all the time that there is. */
  #askHere<Verb extends OwnerVerb>(asked: OwnerExchange<Verb>): Promise<Tried<AnswerOf<Verb>> | null> {
    const { endpointId, question, signal, untilMs, verb } = asked;
    const { clock, local } = this.#options;
    return new Promise((resolve, reject) => {
      const settle = (reply: OwnerReply<AnswerOf<Verb>> | 'silent'): void => {
        cancel();
        signal?.removeEventListener('abort', giveUp);
        resolve(reply === 'silent' ? null : triedBy('here', reply));
      };
      const giveUp = (): void => settle('silent');
      const cancel = clock.after(untilMs - clock.monotonicMs(), giveUp);
      signal?.addEventListener('abort', giveUp, { once: true });
      local(endpointId, verb, question).then(settle, (error: Error) => {
        reject(error);
        giveUp();
      });
    });
  }

  /** False where no time is left for another try, or nobody waits for it. */
  async #pause({ signal, untilMs }: OwnerExchange<OwnerVerb>, tries: number): Promise<boolean> {
    const { clock, random } = this.#options;
    const plainMs = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** (tries - 1));
    const pauseMs = plainMs * (1 - JITTER + 2 * JITTER * random.fraction());
    if (clock.monotonicMs() + pauseMs >= untilMs) return false;
    await clock.sleep(pauseMs, signal);
    return signal?.aborted !== true;
  }

  #givenUp({ signal, verb }: OwnerExchange<OwnerVerb>, wasBusy: boolean): PlatformError {
    const isUnwanted = signal?.aborted === true;
    this.#options.metrics.questions.inc({ verb, outcome: isUnwanted ? 'unwanted' : 'unanswered' });
    if (isUnwanted) return unavailable('Nobody waits for the answer any more.');
    return unavailable(
      wasBusy
        ? 'Too many requests wait for the jobs of this endpoint; try again.'
        : 'Nobody who keeps the jobs of this endpoint has answered in time; try again.',
    );
  }
}

/** The question as it is sent, made when it is. */
class Sending<Verb extends OwnerVerb> {
  readonly #asked: OwnerExchange<Verb>;
  #body: Uint8Array | undefined;

  constructor(asked: OwnerExchange<Verb>) {
    this.#asked = asked;
  }

  get body(): Uint8Array {
    this.#body ??= Buffer.from(encodeOwnerQuestion(this.#asked));
    return this.#body;
  }
}

function triedBy<Answer>(by: 'here' | 'elsewhere', reply: OwnerReply<Answer>): Tried<Answer> {
  if (reply.kind === 'answer') return { kind: 'answered', answer: reply.answer, by };
  if (reply.reason === 'busy') return { kind: 'again', cause: 'busy' };
  return { kind: 'failed', outcome: reply.reason, error: reply.reason === 'full' ? storeFull('logs') : stopped() };
}

const unavailable = (detail: string, retryAfterSeconds = RETRY_SECONDS): PlatformError =>
  new PlatformError('service-unavailable', detail, { retryAfterSeconds });

const stopped = (): PlatformError =>
  unavailable(
    'The jobs of this endpoint stand still until the operator has looked at their log.',
    STOPPED_RETRY_SECONDS,
  );

/** The edge keeps requests below what a broker takes by default, so this one is set to take less. */
const tooLarge = (bytes: number, maxBytes: number): PlatformError =>
  new PlatformError(
    'body-too-large',
    `The request takes ${bytes} bytes among the routers, and the broker takes ${maxBytes} at most.`,
  );
