import { spawn } from 'node:child_process';
import { systemClock } from '@berth/lifecycle';

export interface CommandOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly owner?: ProcessOwner;
}

/** Whom a child process runs as. */
export interface ProcessOwner {
  readonly uid: number;
  readonly gid: number;
}

/** A command that could not be started, failed, or took too long; the message ends with the last lines it printed. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

const OUTPUT_KEPT_BYTES = 64 * 1024;
const OUTPUT_SHOWN_CHARS = 2_000;

/**
 * Runs a command to its end and returns what it printed on standard output (the last 64 KiB).
 *
 * @throws CommandError
 */
export const runCommand = (command: string, args: readonly string[], options: CommandOptions): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.env === undefined ? {} : { env: options.env }),
      ...options.owner,
    });
    // Not the timeout of `spawn`: when the program is missing, its timer goes on and keeps this process alive.
    const patience = new AbortController();
    void systemClock.sleep(options.timeoutMs, patience.signal).then(() => child.kill('SIGKILL'));
    let printed = '';
    let complaints = '';
    child.stdout.on('data', (chunk: Buffer) => (printed = (printed + chunk.toString()).slice(-OUTPUT_KEPT_BYTES)));
    child.stderr.on(
      'data',
      (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(-OUTPUT_KEPT_BYTES)),
    );
    child.on('error', (cause) => {
      patience.abort();
      reject(new CommandError(`${command} could not be started: ${cause.message}`, { cause }));
    });
    child.on('close', (code, signal) => {
      patience.abort();
      if (code === 0) resolve(printed);
      else {
        const lastWords = (complaints || printed).trim().slice(-OUTPUT_SHOWN_CHARS);
        reject(new CommandError(`${command} ended with ${signal ?? `code ${String(code)}`}: ${lastWords}`));
      }
    });
  });
