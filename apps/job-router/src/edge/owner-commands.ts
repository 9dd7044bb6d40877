import type { OwnerCommand } from '@berth/contracts';
import { PlatformError, type CommandOutcome, type CommandRefusal, type EndpointId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { isOutcomeAmong, type OutcomeOf, type Owners } from '../owners/index.js';

type CallerCommand = Extract<OwnerCommand, { readonly sentAtMs: number }>;

/** A command of a caller without the instant of its sending. */
export type UnsentCommand = CallerCommand extends infer Each
  ? Each extends CallerCommand
    ? Omit<Each, 'sentAtMs'>
    : never
  : never;

/** The owner's word that the command is not carried out, whatever became of earlier sendings: it is not known there. */
export class CommandRefusedError extends PlatformError {
  readonly reason: CommandRefusal['reason'];

  constructor({ code, detail, reason, retryAfterMs }: CommandRefusal) {
    super(code, detail, retryAfterMs === null ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / MS_PER_SECOND) });
    this.name = 'CommandRefusedError';
    this.reason = reason;
  }
}

const MS_PER_SECOND = 1_000;

/**
 * Which commands may be sent anew when they came so late that the owner dropped them, although an earlier sending may have
 * been carried out. A second purge would count what is left and not what went, and a second retry may be one too many.
 */
const MAY_BE_SENT_ANEW: Readonly<Record<UnsentCommand['kind'], boolean>> = {
  submit: true,
  cancel: true,
  'replace-life': true,
  retry: false,
  purge: false,
};

export interface OwnerCommandsOptions {
  readonly owners: Owners;
  readonly clock: Clock;
}

/** Has owners carry out what callers want. */
export class OwnerCommands {
  readonly #options: OwnerCommandsOptions;

  constructor(options: OwnerCommandsOptions) {
    this.#options = options;
  }

  /**
   * @param kinds what the command may come to
   * @throws CommandRefusedError with the code of the refusal
   * @throws PlatformError `service-unavailable` where no owner has carried it out in time
   */
  async perform<Kind extends CommandOutcome['kind']>(
    endpointId: EndpointId,
    command: UnsentCommand,
    kinds: readonly Kind[],
  ): Promise<OutcomeOf<Kind>> {
    let outcome = await this.#send(endpointId, command);
    if (outcome.kind === 'dropped' && MAY_BE_SENT_ANEW[command.kind]) outcome = await this.#send(endpointId, command);
    if (outcome.kind === 'refused') throw new CommandRefusedError(outcome);
    if (outcome.kind === 'dropped') throw late();
    if (isOutcomeAmong(kinds, outcome)) return outcome;
    throw new Error(`The owner of endpoint ${endpointId} says "${outcome.kind}" to a ${command.kind} command.`);
  }

  #send(endpointId: EndpointId, command: UnsentCommand): Promise<CommandOutcome> {
    const { clock, owners } = this.#options;
    return owners.ask(endpointId, 'perform', { command: { ...command, sentAtMs: clock.nowMs() } });
  }
}

const late = (): PlatformError =>
  new PlatformError('service-unavailable', 'The request took too long on its way; look at the job, and try again.', {
    retryAfterSeconds: 1,
  });
