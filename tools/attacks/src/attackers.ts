import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { AttackTarget } from './attack.js';
import type { AttackName } from './attacks.js';

/** By attack: what it did and was answered, and how often. */
export type AttackReport = Readonly<Record<AttackName, Readonly<Record<string, number>>>>;

const ENTRY = join(resolve(import.meta.dirname, '..'), 'dist/attackers.main.js');

/** All attacks at once, in a process of their own, until `stop`. They end with this process as well. */
export class Attackers {
  readonly #child: ChildProcess;
  #output = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    const decoder = new StringDecoder('utf8');
    child.stdout?.on('data', (data: Buffer) => {
      this.#output += decoder.write(data);
    });
  }

  static start(target: AttackTarget): Attackers {
    const child = spawn(process.execPath, [ENTRY], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin?.write(`${JSON.stringify(target)}\n`);
    return new Attackers(child);
  }

  /** @throws Error when the attackers' process had died before */
  async stop(): Promise<AttackReport> {
    const exited = once(this.#child, 'close');
    this.#child.stdin?.end();
    if (this.#child.exitCode === null) await exited;
    if (this.#child.exitCode !== 0) throw new Error(`the attackers ended with ${this.#child.exitCode}`);
    return JSON.parse(this.#output) as AttackReport;
  }
}
