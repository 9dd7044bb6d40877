import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const FROM_SOURCE = new URL('../../../tools/servers/test/fixtures/from-source.mjs', import.meta.url).href;
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The agent as a process of its own, on this repository's sources; unless told otherwise its workers leave with it. */
export class AgentProgram {
  readonly #child: ChildProcess;
  output = '';

  constructor(environment: Readonly<Record<string, string>>) {
    const own = { BERTH_LOG_FORMAT: 'json', BERTH_OPERATIONS_PORT: '0', BERTH_KEEP_WORKERS: 'false' };
    const settings = { ...own, ...environment };
    const pairs = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
    // `env` becomes the agent: it adds the settings to what this process has, such as the way to the package indexes.
    this.#child = spawn('env', [...pairs, process.execPath, '--import', FROM_SOURCE, MAIN], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer): void => {
      this.output += chunk.toString();
    };
    this.#child.stdout?.on('data', keep);
    this.#child.stderr?.on('data', keep);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Stops or continues it; to end it, use `end`. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name);
  }

  /** Resolves with the exit code; null when a signal ended it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (!this.isRunning) return this.#child.exitCode;
    const ended = once(this.#child, 'exit');
    this.#child.kill(signal);
    await ended;
    return this.#child.exitCode;
  }
}
