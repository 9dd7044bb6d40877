import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemRandom } from '@berth/lifecycle';
import { StartupError } from '@berth/telemetry';
import { useTempFolders } from '@berth/testing/folders';
import { describe, expect, test } from '@jest/globals';
import { claimHome } from './claim-home.js';

const FROM_SOURCE = new URL('../../../../tools/servers/test/fixtures/from-source.mjs', import.meta.url).href;
const newFolder = useTempFolders();

const claim = (home: string) => claimHome(home, systemRandom);
const claimsIn = (home: string): Promise<string[]> => readdir(join(home, 'claims'));

/** Another process that has claimed the home and does nothing else. Resolves with the function that kills it. */
async function holdElsewhere(home: string): Promise<() => Promise<void>> {
  const program = `
    import { systemRandom } from '@berth/lifecycle';
    import { claimHome } from '${new URL('./claim-home.ts', import.meta.url).href}';
    await claimHome(process.argv[1], systemRandom);
    setInterval(() => undefined, 1_000_000);
    process.stdout.write('claimed');
  `;
  const options = ['--import', FROM_SOURCE, '--input-type=module', '-e', program, home];
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  return async () => {
    child.kill('SIGKILL');
    await ended;
  };
}

describe('the claim on a home', () => {
  test('keeps a second agent out, whatever its pid, until it is released', async () => {
    const home = await newFolder();
    const first = await claim(home);
    const refusal: unknown = await claim(home).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StartupError);
    expect(String(refusal)).toContain(`Another agent works in ${home}`);
    expect(await claimsIn(home)).toHaveLength(1);
    await first.release();
    expect(await claimsIn(home)).toEqual([]);
    await (await claim(home)).release();
  });

  test('ends with its process, however that ends, and what is left of it is cleared away', async () => {
    const home = await newFolder();
    const kill = await holdElsewhere(home);
    await expect(claim(home)).rejects.toThrow('Another agent');
    await kill();
    expect(await claimsIn(home)).toHaveLength(1);
    const next = await claim(home);
    expect(await claimsIn(home)).toHaveLength(1);
    await expect(claim(home)).rejects.toThrow('Another agent');
    await next.release();
  });

  test('is never held twice when several come at once', async () => {
    const home = await newFolder();
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => claim(home)));
    const held = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(held.length).toBeLessThanOrEqual(1);
    await Promise.all(held.map((each) => each.release()));
    await (await claim(home)).release();
  });

  test('holds where the path of the home is longer than that of a socket may be', async () => {
    const home = join(await newFolder(), 'x'.repeat(150), 'ü'.repeat(50));
    await mkdir(home, { recursive: true });
    const first = await claim(home);
    await expect(claim(home)).rejects.toThrow('Another agent');
    await first.release();
    await (await claim(home)).release();
    expect(await claimsIn(home)).toEqual([]);
  });

  test('says what to do where it cannot be had', async () => {
    const home = await newFolder();
    await writeFile(join(home, 'claims'), '');
    const failure: unknown = await claim(home).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartupError);
    expect(String(failure)).toContain('Set BERTH_HOME');
  });
});
