import { execFile } from 'node:child_process';
import type { Clock } from '@berth/lifecycle';

/** Runs a tool and returns what it printed; null where the machine has none. Rejects where it fails. */
export type AskTool = (args: readonly string[]) => Promise<string | null>;

/** A tool that ended with an error, or not at all. */
export class GpuToolError extends Error {
  override readonly name = 'GpuToolError';
  /** A tool that fails over one card may have named the others. */
  readonly printed: string;

  constructor(message: string, printed: string) {
    super(message);
    this.printed = printed;
  }
}

export interface GpuToolOptions {
  /** Looked for on `PATH`. */
  readonly file: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

const PRINTED_MAX_BYTES = 2 ** 20;

/**
 * A tool of a driver. A driver in trouble keeps it for ever, where no signal reaches it: nobody waits for that one longer
 * than the time limit, and while it is there no other is started.
 */
export class GpuTool {
  readonly #options: GpuToolOptions;
  #isStuck = false;

  constructor(options: GpuToolOptions) {
    this.#options = options;
  }

  readonly ask: AskTool = async (args) => {
    const { file, timeoutMs } = this.#options;
    if (this.#isStuck) throw new GpuToolError(`${file} has not ended since it was asked before`, '');
    return this.#run(args, `${file} gave no answer within ${String(timeoutMs / 1_000)} s`);
  };

  #run(args: readonly string[], tooLate: string): Promise<string | null> {
    const { clock, file, timeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      const child = execFile(file, [...args], { maxBuffer: PRINTED_MAX_BYTES }, (error, stdout) => {
        this.#isStuck = false;
        forget();
        if (error === null) resolve(stdout);
        else if (error.code === 'ENOENT') resolve(null);
        else reject(new GpuToolError(lastWords(error.message, stdout), stdout));
      });
      const forget = clock.after(timeoutMs, () => {
        this.#isStuck = true;
        child.kill('SIGKILL');
        // What it started may hold its output open.
        child.stdout?.destroy();
        child.stderr?.destroy();
        child.unref();
        reject(new GpuToolError(tooLate, ''));
      });
    });
  }
}

/** These tools say on their output what is wrong. */
const lastWords = (message: string, printed: string): string => printed.trim().split('\n').at(-1) || message.trim();
