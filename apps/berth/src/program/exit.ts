/** What the command's exit status says (docs/berth.md). */
export const EXIT_STATUS = {
  /** It is done, and all is well. */
  done: 0,
  /** It could not be done, or something that was looked at is not well. */
  failed: 1,
  /** It was asked in a way that cannot be: an option, a setting, a state that forbids it. Nothing was changed. */
  misused: 2,
} as const;

export type CommandStatus = (typeof EXIT_STATUS)[keyof typeof EXIT_STATUS];
