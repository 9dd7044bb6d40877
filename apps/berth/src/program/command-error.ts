import { EXIT_STATUS, type CommandStatus } from './exit.js';

interface CommandErrorOptions {
  /** What to do about it, as a sentence. */
  readonly mend: string;
  /** Default: `failed`. */
  readonly status?: CommandStatus;
  readonly cause?: unknown;
}

/** Something that whoever typed the command can do something about. The message says what failed, and where. */
export class CommandError extends Error {
  readonly mend: string;
  readonly status: CommandStatus;

  constructor(message: string, { cause, mend, status = EXIT_STATUS.failed }: CommandErrorOptions) {
    super(message, { cause });
    this.name = 'CommandError';
    this.mend = mend;
    this.status = status;
  }
}

/** An option, a setting or a state with which the command does not begin. */
export const misuse = (message: string, mend: string): CommandError =>
  new CommandError(message, { mend, status: EXIT_STATUS.misused });
