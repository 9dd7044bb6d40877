import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** One chain of an agent, and the interface whose packets it judges. */
export interface Fence {
  readonly chain: string;
  readonly interfaceName: string;
  /** The firewall's own chains from which it is asked. */
  readonly hooks: readonly string[];
  readonly rules: readonly string[];
}

/** The part of the host's firewall for one version of IP. Tests may pretend one. */
export interface Firewall {
  /** The fence's present rules and its hooks, in the firewall's own words. @throws FirewallError */
  read(fence: Fence): Promise<readonly string[]>;
  /**
   * Puts the chain's rules in one step, and its hooks where they are missing. @returns them, whole, as `read` does
   * @throws FirewallError also where some are gone again at once
   */
  put(fence: Fence): Promise<readonly string[]>;
  /** Success, too, when it is not there. @throws FirewallError */
  remove(fence: Fence): Promise<void>;
}

/** `message` is for people: what the firewall's own program said. */
export class FirewallError extends Error {
  override readonly name = 'FirewallError';
}

/**
 * In this table neither the engine nor a firewall's usual manager changes anything, so nobody's rules come to stand
 * before ours; and its chains see a packet before its destination is rewritten, and after it.
 */
const TABLE = 'mangle';
/** Before a packet's destination is rewritten, and after it. */
export const ON_EVERY_WAY: readonly string[] = ['PREROUTING', 'INPUT', 'FORWARD'];
/** Once for each packet. */
export const ON_ARRIVAL: readonly string[] = ['PREROUTING'];
/** Others change the firewall too; each change takes milliseconds. */
const LOCK_WAIT_S = '10';
const CALL_MS = 20_000;
/** What is put may be gone, or not be seen, while others change the firewall. */
const PUT_TRIES = 3;
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

const call = promisify(execFile);

/** Linux's firewall through `iptables` or `ip6tables`, whichever of their two kinds the machine has. */
export class IptablesFirewall implements Firewall {
  readonly #program: 'iptables' | 'ip6tables';

  constructor(program: 'iptables' | 'ip6tables') {
    this.#program = program;
  }

  async read({ chain }: Fence): Promise<readonly string[]> {
    const table = await this.#run(['-S']);
    return table.split('\n').filter((line) => line.split(' ').includes(chain));
  }

  async put(fence: Fence): Promise<readonly string[]> {
    for (let tries = 0; tries < PUT_TRIES; tries += 1) {
      const lines = await this.#putOnce(fence);
      if (isWhole(lines, fence)) return lines;
    }
    throw new FirewallError(`another program removes the rules of ${fence.chain}`);
  }

  async #putOnce(fence: Fence): Promise<readonly string[]> {
    const { chain, rules } = fence;
    // Naming the chain empties it within the same step: there is no instant without rules.
    const text = [`*${TABLE}`, `:${chain} - [0:0]`, ...rules.map((rule) => `-A ${chain} ${rule}`), 'COMMIT', ''];
    await runShell([`${this.#program}-restore`, '--noflush', '--wait', LOCK_WAIT_S], text.join('\n'));
    const present = await this.read(fence);
    for (const hook of fence.hooks) {
      if (!present.includes(hookLine(hook, fence))) await this.#run(['-I', hook, ...hookWords(fence)]);
    }
    return this.read(fence);
  }

  async remove(fence: Fence): Promise<void> {
    const present = await this.read(fence);
    for (const hook of fence.hooks) {
      const times = present.filter((line) => line === hookLine(hook, fence)).length;
      for (let time = 0; time < times; time += 1) await this.#run(['-D', hook, ...hookWords(fence)]);
    }
    if (present.length === 0) return;
    await this.#run(['-F', fence.chain]);
    await this.#run(['-X', fence.chain]);
  }

  #run(words: readonly string[]): Promise<string> {
    return runShell([this.#program, '--wait', LOCK_WAIT_S, '--table', TABLE, ...words], '');
  }
}

const hookWords = ({ chain, interfaceName }: Fence): readonly string[] => ['-i', interfaceName, '-j', chain];
const hookLine = (hook: string, fence: Fence): string => ['-A', hook, ...hookWords(fence)].join(' ');

/** Each rule that is put is one line, in whatever words. */
const isWhole = (lines: readonly string[], fence: Fence): boolean =>
  lines.filter((line) => line.startsWith(`-A ${fence.chain} `)).length === fence.rules.length &&
  fence.hooks.every((hook) => lines.includes(hookLine(hook, fence)));

/** Administrators' programs are often not on the path of a service; the shell here only adds their folders to it. */
async function runShell(words: readonly string[], input: string): Promise<string> {
  const script = 'PATH=$PATH:/usr/sbin:/sbin; export PATH; exec "$@"';
  const limits = { timeout: CALL_MS, maxBuffer: OUTPUT_BYTES_MAX };
  const running = call('/bin/sh', ['-c', script, 'sh', ...words], limits);
  running.child.stdin?.on('error', () => undefined).end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const { stderr = '', message } = error as { readonly stderr?: string; readonly message: string };
    const [line = message] = stderr.split('\n').filter(Boolean);
    throw new FirewallError(line.trim(), { cause: error });
  }
}
