import type { AssignedJob, QuestionOf, TakeAsker } from '@berth/contracts';
import type { AttemptAssignment, AttemptGiven, EndpointId, TakeWish } from '@berth/domain';

/** Workers that wait at this router for jobs of the endpoints that it owns. */
export interface WaitingTakes {
  /** Held until a job comes or `waitMs` is over; then none. `silent`: this owner does not know, and may say nothing. */
  take(endpointId: EndpointId, question: QuestionOf<'take'>): Promise<readonly AssignedJob[] | 'silent'>;
  /** No other question for the take has come since it was answered. False also where that is not known, or no longer. */
  isLastAsker(asker: TakeAsker): boolean;
  /** Ends what is held for a worker. */
  withdraw(endpointId: EndpointId, worker: QuestionOf<'withdraw'>): void;
  /** Something was committed, or has become due, that may let a job be taken. Must be cheap where no take waits. */
  wake(endpointId: EndpointId): void;
  /**
   * The longest wait first. The jobs that a submit gives them are known by their ids from then on, so that a take by
   * the same wish brings them.
   */
  waitingWishes(endpointId: EndpointId): readonly TakeWish[];
}

/** The answer that a wish got, or got before. */
export interface GivenJobs {
  readonly jobs: readonly AttemptGiven[];
  /** The same as they were in the very commit in which they were given, where that is known. */
  readonly seen?: SeenAssignments;
}

export interface SeenAssignments {
  /** Unix ms. */
  readonly atMs: number;
  readonly list: readonly AttemptAssignment[];
}

/**
 * The services of the owner that those takes need. `silent`: this owner does not know, and the same may be asked again.
 */
export interface JobGiving {
  /** The answers that the wishes get, or got before, in their order, once they are committed. */
  give(endpointId: EndpointId, wishes: readonly TakeWish[]): Promise<readonly GivenJobs[] | 'silent'>;
  /** The jobs as their workers need them, without those whose attempt is over by now. */
  assign(endpointId: EndpointId, given: GivenJobs): Promise<readonly AssignedJob[] | 'silent'>;
}
