import { ConfigError, type Environment } from '@berth/lifecycle';
import yargs, { type Argv, type CommandModule } from 'yargs';
import { CommandError } from './command-error.js';
import { EXIT_STATUS, type CommandStatus } from './exit.js';
import { CommandOutput, type Streams } from './output.js';

/** What every command is given. */
export interface Program {
  readonly environment: Environment;
  readonly streams: Streams;
  /** From now on Ctrl-C, or a signal to end, does this once; the next one ends the process. */
  readonly onInterrupt: (end: () => void) => void;
}

/** A command as yargs has it, with what becomes of it. */
export type Command = (run: RunCommand) => CommandModule;

/** Notes the outcome of the one command that is run. */
type RunCommand = (
  parsed: object,
  work: (output: CommandOutput, program: Program) => Promise<CommandStatus>,
) => Promise<void>;

/** Runs the command that the arguments name, and says what went wrong so that somebody can mend it. Never throws. */
export async function runProgram(
  args: readonly string[],
  commands: readonly Command[],
  program: Program,
): Promise<CommandStatus> {
  let status: CommandStatus = EXIT_STATUS.done;
  const run: RunCommand = async (parsed, work) => {
    const isJson = 'json' in parsed && parsed.json === true;
    status = await work(new CommandOutput(program.streams, isJson), program);
  };
  const parser = commands.reduce((all, command) => all.command(command(run)), emptyParser());
  try {
    await parser.parseAsync(args, {}, (error, _parsed, text) => {
      if (error instanceof Error) return;
      if (text !== '') program.streams.stdout.write(`${text}\n`);
    });
    return status;
  } catch (error) {
    const complaint = complaintOf(error);
    for (const line of complaint.lines) program.streams.stderr.write(`${line}\n`);
    return complaint.status;
  }
}

const emptyParser = (): Argv =>
  yargs()
    .scriptName('berth')
    .usage('$0 COMMAND\n\nInstalls, checks and keeps an installation of Berth.')
    // What is said does not depend on the language of whoever is on duty.
    .locale('en')
    .parserConfiguration({ 'greedy-arrays': false })
    .option('json', { type: 'boolean', describe: 'Say the outcome as one JSON document', global: true })
    .demandCommand(1, 'Name a command.')
    .strict()
    .completion('completion', 'Print what makes a shell complete the command')
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new CommandError(message ?? 'The command cannot be read.', HELP);
    })
    .version(false)
    .help();

const HELP = { mend: '`berth --help`, or `berth COMMAND --help`, says what there is.', status: EXIT_STATUS.misused };

function complaintOf(error: unknown): { readonly lines: readonly string[]; readonly status: CommandStatus } {
  if (error instanceof CommandError) {
    return { lines: [`berth: ${error.message}`, `  ${error.mend}`], status: error.status };
  }
  if (error instanceof ConfigError) return { lines: [`berth: ${error.message}`], status: EXIT_STATUS.misused };
  // An error that was not foreseen: where it came from is all there is to go by.
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { lines: [`berth: this should not have happened: ${text}`], status: EXIT_STATUS.failed };
}
