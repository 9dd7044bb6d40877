import type { CommandOutcome } from '@berth/domain';

export type OutcomeOf<Kind extends CommandOutcome['kind']> = Extract<CommandOutcome, { readonly kind: Kind }>;

export const isOutcomeAmong = <Kind extends CommandOutcome['kind']>(
  kinds: readonly Kind[],
  outcome: CommandOutcome,
): outcome is OutcomeOf<Kind> => (kinds as readonly string[]).includes(outcome.kind);
