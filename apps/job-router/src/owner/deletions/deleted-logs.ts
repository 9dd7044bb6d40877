import {
  newEndpointState,
  performCommand,
  performRead,
  performRenewals,
  type AttemptProof,
  type CommandOutcome,
  type CommandContext,
  type EndpointCommand,
  type EndpointId,
  type EndpointState,
  type Performance,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { EndpointLogs, Renewals, Said } from '../logs/endpoint-logs.js';

/**
 * Answers for endpoints that were deleted as their logs would, which say nothing more: none is opened for it. Callers hear
 * that there is no such endpoint, and hosts that their attempts are over.
 */
export class DeletedLogs implements EndpointLogs {
  readonly #state: EndpointState = Object.assign(newEndpointState(0), { isDeleted: true });
  readonly #clock: Pick<Clock, 'nowMs'>;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  perform(_: EndpointId, command: EndpointCommand): Promise<Said<CommandOutcome>> {
    return Promise.resolve(this.#say((context) => performCommand(this.#state, command, context)));
  }

  read<View>(_: EndpointId, view: (state: EndpointState, atMs: number) => View): Promise<Said<View>> {
    return Promise.resolve(this.#say((context) => performRead(this.#state, view, context)));
  }

  renew(_: EndpointId, proofs: readonly AttemptProof[]): Promise<Said<Renewals>> {
    return Promise.resolve(this.#say((context) => performRenewals(this.#state, proofs, context)));
  }

  #say<Answer>(act: (context: CommandContext) => Performance<Answer>): Said<Answer> {
    const performed = act({ nowMs: this.#clock.nowMs(), write: refuseToWrite });
    return performed.kind === 'performed' ? { kind: 'answer', answer: performed.answer } : 'silent';
  }
}

const refuseToWrite: CommandContext['write'] = ({ kind }) => {
  throw new Error(`nothing is written for an endpoint that was deleted, but ${kind} was to be`);
};
