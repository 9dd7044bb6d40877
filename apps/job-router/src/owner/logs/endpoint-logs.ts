import type { OwnerReply } from '@berth/contracts';
import {
  findsRoom,
  type AttemptProof,
  type CommandOutcome,
  type EndpointCommand,
  type EndpointId,
  type EndpointState,
  type LeaseRenewal,
  type SubmitCommand,
  type ViewedCommand,
  type ViewedOutcome,
} from '@berth/domain';
import type { LogAsker, OpenLog, SettledAnswer, RouterLogs } from '@berth/endpoint-log';

/** The answer to a question; `silent`: this owner does not know and may say nothing, so the question comes again. */
export type Said<Answer> = OwnerReply<Answer> | 'silent';

/** The outcomes of renewals, in the order of their proofs. */
export type Renewals = readonly LeaseRenewal['outcome'][];

/** Decides about the jobs of endpoints. Nothing is said that is not committed. */
export interface EndpointLogs {
  perform(endpointId: EndpointId, command: EndpointCommand): Promise<Said<CommandOutcome>>;
  read<View>(endpointId: EndpointId, view: (state: EndpointState, atMs: number) => View): Promise<Said<View>>;
  renew(endpointId: EndpointId, proofs: readonly AttemptProof[]): Promise<Said<Renewals>>;
}

type Tell<Answer> = (outcome: SettledAnswer<Answer>) => void;

export interface OwnedLogsOptions extends Pick<RouterLogs, 'ask'> {
  /** Share of the room that is taken in which the endpoint's log lies. */
  readonly fillOf: (endpointId: EndpointId) => number;
  /** So much is about to be written there. */
  readonly bring: (endpointId: EndpointId, bytes: number) => void;
}

/** The logs of this router's shards, each opened when it is asked for. */
export class OwnedLogs implements EndpointLogs {
  readonly #logs: OwnedLogsOptions;

  constructor(logs: OwnedLogsOptions) {
    this.#logs = logs;
  }

  /** A request that came before is refused for want of room, too: it comes again, and is answered as before then. */
  async perform(endpointId: EndpointId, command: EndpointCommand): Promise<Said<CommandOutcome>> {
    if (!findsRoom(command.kind, this.#logs.fillOf(endpointId))) return { kind: 'refused', reason: 'full' };
    if (command.kind === 'submit') this.#logs.bring(endpointId, bytesOf(command));
    const said = await this.#ask<CommandOutcome>(endpointId, (log, tell) => log.perform(command, tell));
    return said !== 'silent' && said.kind === 'answer' && said.answer.kind === 'dropped' ? 'silent' : said;
  }

  read<View>(endpointId: EndpointId, view: (state: EndpointState, atMs: number) => View): Promise<Said<View>> {
    return this.#ask<View>(endpointId, (log, tell) => log.read(view, tell));
  }

  /** A command, and how the endpoint looks by it. */
  async performViewed<View>(endpointId: EndpointId, command: ViewedCommand<View>): Promise<Said<ViewedOutcome<View>>> {
    if (!findsRoom(command.command.kind, this.#logs.fillOf(endpointId))) return { kind: 'refused', reason: 'full' };
    return this.#ask<ViewedOutcome<View>>(endpointId, (log, tell) => log.performViewed(command, tell));
  }

  /**
   * While the endpoint is being opened everything is granted at once: its holders must not wait, and every lease is full
   * when it is open.
   */
  renew(endpointId: EndpointId, proofs: readonly AttemptProof[]): Promise<Said<Renewals>> {
    return new Promise((resolve) => {
      let isBeingOpened = true;
      this.#logs.ask(endpointId, {
        use: (log) => {
          isBeingOpened = false;
          log.renew(proofs, (outcome) => resolve(saidOf(outcome)));
        },
        refuse: (reason) => {
          isBeingOpened = false;
          resolve(refusedBy(reason));
        },
      });
      if (isBeingOpened) resolve({ kind: 'answer', answer: proofs.map(() => 'renewed') });
    });
  }

  /** Deletes the endpoint, however often that is asked for. Returns the sequence of its last batch, which says so. */
  delete(endpointId: EndpointId): Promise<Said<number>> {
    return this.#ask<number>(endpointId, (log, tell) => {
      log.perform({ kind: 'delete' }, (outcome) =>
        tell(outcome.kind === 'settled' ? { kind: 'settled', answer: log.last } : outcome),
      );
    });
  }

  #ask<Answer>(endpointId: EndpointId, act: (log: OpenLog, tell: Tell<Answer>) => void): Promise<Said<Answer>> {
    return new Promise((resolve) => {
      this.#logs.ask(endpointId, {
        use: (log) => act(log, (outcome) => resolve(saidOf(outcome))),
        refuse: (reason) => resolve(refusedBy(reason)),
      });
    });
  }
}

/** Of what lies in the log itself: large inputs lie beside it. */
const bytesOf = ({ jobs }: SubmitCommand): number =>
  jobs.reduce((sum, { body, bodyBytes }) => sum + (body.input.kind === 'inline' ? bodyBytes : 0), 0);

const refusedBy = (reason: Parameters<LogAsker['refuse']>[0]): Said<never> =>
  reason === 'unsettled' ? 'silent' : { kind: 'refused', reason };

function saidOf<Answer>(outcome: SettledAnswer<Answer>): Said<Answer> {
  switch (outcome.kind) {
    case 'settled':
      return { kind: 'answer', answer: outcome.answer };
    case 'busy':
      return { kind: 'refused', reason: 'busy' };
    case 'unsettled':
      return 'silent';
    default:
      return outcome satisfies never;
  }
}
