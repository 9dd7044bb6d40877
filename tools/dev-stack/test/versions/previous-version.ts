import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const SCRIPT = resolve(import.meta.dirname, '../../../versions/prepare.mjs');

/** The repository of this version. */
export const PRESENT = resolve(import.meta.dirname, '../../../..');

/** Installs and builds the version before this one, unless that was done before, and returns its repository. */
export async function preparePrevious(): Promise<string> {
  const child = spawn(process.execPath, [SCRIPT], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const said = await text(child.stdout);
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`the version before this one could not be prepared (exit code ${String(code)})`);
  return said.trim();
}
