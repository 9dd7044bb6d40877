import type { AnswerOf, OwnerVerb, QuestionOf } from '@berth/contracts';
import type { EndpointId } from '@berth/domain';

export interface QuestionOptions {
  /** How long the owner may hold the question before it answers, ms; 0 where it answers at once. */
  readonly heldMs?: number;
  /** Aborts when nobody wants the answer any more. */
  readonly signal?: AbortSignal;
}

/**
 * Brings questions to the router that owns an endpoint, which may be this one, and asks again where it is silent: all
 * questions are safe to repeat.
 */
export abstract class Owners {
  /** @throws PlatformError `service-unavailable` with `retryAfterSeconds` when nobody has answered within 8 s, or the owner refuses */
  abstract ask<Verb extends OwnerVerb>(
    endpointId: EndpointId,
    verb: Verb,
    question: QuestionOf<Verb>,
    options?: QuestionOptions,
  ): Promise<AnswerOf<Verb>>;
}
