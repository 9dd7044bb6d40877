import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'bridge-port';

/** The port of the last start, 0 when there was none: a worker that is found again knows no other. */
export async function lastBridgePort(home: string): Promise<number> {
  const text = await readFile(join(home, FILE), 'utf8').catch(() => '0');
  return /^\d{1,5}$/.test(text) ? Number(text) : 0;
}

export async function rememberBridgePort(home: string, port: number): Promise<void> {
  const path = join(home, FILE);
  await writeFile(`${path}.part`, String(port));
  await rename(`${path}.part`, path);
}
