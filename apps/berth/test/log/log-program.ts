import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** The built command as a process of its own. */
export class LogProgram {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  output = '';
  complaint = '';

  constructor(settings: Readonly<Record<string, string>>, ...args: readonly string[]) {
    const pairs = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
    // `env` becomes the command: it adds the settings to what this process has.
    this.#child = spawn('env', [...pairs, process.execPath, MAIN, 'log', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.output += chunk.toString();
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.complaint += chunk.toString();
    });
    this.#ended = once(this.#child, 'close');
  }

  get lines(): readonly string[] {
    return this.output.split('\n').filter((line) => line !== '');
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Reads no further, as `head` does. */
  hangUp(): void {
    this.#child.stdout?.destroy();
  }

  /** Its exit status, when it has ended by itself. */
  async status(): Promise<number | null> {
    await this.#ended;
    return this.#child.exitCode;
  }
}
