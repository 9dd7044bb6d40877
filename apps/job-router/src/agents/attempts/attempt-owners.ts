import type { AttemptRef, HoldAnswer, OwnerCommand, QuestionOf } from '@berth/contracts';
import {
  PlatformError,
  type AttemptProof,
  type CommandOutcome,
  type EndpointId,
  type HostId,
  type ProgressCommand,
} from '@berth/domain';
import { isOutcomeAmong, type OutcomeOf, type Owners } from '../../owners/index.js';

/** A host's word on an attempt. */
type HolderCommand = Extract<OwnerCommand, AttemptProof>;

/** An attempt that is its holder's. */
export type AttemptOfHost = Extract<HoldAnswer, { readonly kind: 'held' }>;

/** Only the host that holds the attempt, and knows its token, can say this. */
export const proofOf = (hostId: HostId, { attempt, jobId, token }: AttemptRef): AttemptProof => ({
  jobId,
  attempt,
  token,
  hostId,
});

/**
 * Asks the owners of logs in the name of attempts. Each throws PlatformError `service-unavailable` where no owner answers:
 * the host says it again.
 */
export class AttemptOwners {
  readonly #owners: Owners;

  constructor(owners: Owners) {
    this.#owners = owners;
  }

  /** How an attempt ends. */
  async tell(
    endpointId: EndpointId,
    command: Exclude<HolderCommand, ProgressCommand>,
  ): Promise<'recorded' | 'superseded'> {
    return (await this.#perform(endpointId, command, ['recorded', 'superseded'])).kind;
  }

  /** Of a job whose host never heard of it. `superseded`: it may have reached its worker by another router. */
  async takeBack(endpointId: EndpointId, question: QuestionOf<'take-back'>): Promise<'recorded' | 'superseded'> {
    const outcome = await this.#owners.ask(endpointId, 'take-back', question);
    return outcomeAmong(['recorded', 'superseded'], outcome, question.command).kind;
  }

  show(
    endpointId: EndpointId,
    command: ProgressCommand,
  ): Promise<OutcomeOf<'recorded' | 'superseded'> | OutcomeOf<'later'>> {
    return this.#perform(endpointId, command, ['recorded', 'superseded', 'later']);
  }

  /** @param chunk of the stream, which is to be written; null: none */
  hold(hostId: HostId, ref: AttemptRef, chunk: QuestionOf<'hold'>['chunk']): Promise<HoldAnswer> {
    return this.#owners.ask(ref.endpointId, 'hold', { proof: proofOf(hostId, ref), chunk });
  }

  /** Null: the attempt is over. To be asked before anything but a chunk is written beside the log in its name. */
  async findHeld(hostId: HostId, ref: AttemptRef): Promise<AttemptOfHost | null> {
    const answer = await this.hold(hostId, ref, null);
    switch (answer.kind) {
      case 'held':
        return answer;
      case 'superseded':
        return null;
      case 'full':
        throw new Error(`The owner of endpoint ${ref.endpointId} finds nothing at all too much.`);
      default:
        return answer satisfies never;
    }
  }

  async #perform<Kind extends CommandOutcome['kind']>(
    endpointId: EndpointId,
    command: HolderCommand,
    kinds: readonly Kind[],
  ): Promise<OutcomeOf<Kind>> {
    return outcomeAmong(kinds, await this.#owners.ask(endpointId, 'perform', { command }), command);
  }
}

function outcomeAmong<Kind extends CommandOutcome['kind']>(
  kinds: readonly Kind[],
  outcome: CommandOutcome,
  { jobId, kind }: HolderCommand,
): OutcomeOf<Kind> {
  if (isOutcomeAmong(kinds, outcome)) return outcome;
  if (outcome.kind === 'refused') throw new PlatformError(outcome.code, outcome.detail);
  throw new Error(`The owner of job ${jobId} says "${outcome.kind}" to a ${kind} command.`);
}
