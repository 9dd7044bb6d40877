import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The least that does the same work, in a process of its own like the program it is compared with. */
export interface Reference {
  readonly address: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** @param script beside this file; it sends its address when it listens, and ends when it is disconnected */
export async function startReference(script: string, args: readonly string[] = []): Promise<Reference> {
  const child = fork(join(import.meta.dirname, script), args);
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with ${String(code)} before it listened`);
  });
  const [{ address }] = (await Promise.race([once(child, 'message'), failed])) as [{ address: string }];
  failed.catch(() => undefined);
  return {
    address,
    pid: child.pid ?? 0,
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
