import {
  newEndpointState,
  performCommand,
  performRead,
  performRenewals,
  type AttemptProof,
  type CommandOutcome,
  type Desk,
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
    return Promise.resolve(this.#say((desk) => performCommand(this.#state, command, desk)));
  }

  read<View>(_: EndpointId, view: (state: EndpointState, atMs: number) => View): Promise<Said<View>> {
    return Promise.resolve(this.#say((desk) => performRead(this.#state, view, desk)));
  }

  renew(_: EndpointId, proofs: readonly AttemptProof[]): Promise<Said<Renewals>> {
    return Promise.resolve(this.#say((desk) => performRenewals(this.#state, proofs, desk)));
  }

  #say<Answer>(act: (desk: Desk) => Performance<Answer>): Said<Answer> {
    const performed = act({ nowMs: this.#clock.nowMs(), write: refuseToWrite });
    return performed.kind === 'performed' ? { kind: 'answer', answer: performed.answer } : 'silent';
  }
}

const refuseToWrite: Desk['write'] = ({ kind }) => {
  throw new Error(`nothing is written for an endpoint that was deleted, but ${kind} was to be`);
};
