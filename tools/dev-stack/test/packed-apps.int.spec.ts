import { readFileSync } from 'node:fs';
import { glob, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { runCommand } from '@berth/servers';
import { useTempFolders } from '@berth/testing/folders';

const REPOSITORY = resolve(import.meta.dirname, '../../..');
const PACK = join(REPOSITORY, 'deploy/docker/pack-app.mjs');
const STEP_MS = 60_000;

const tempFolder = useTempFolders();

interface Sbom {
  readonly bomFormat: string;
  readonly components: readonly { readonly purl: string; readonly hashes: readonly { readonly content: string }[] }[];
}

interface Packed {
  readonly folder: string;
  readonly sbom: Sbom;
}

async function pack(app: string): Promise<Packed> {
  const folder = join(await tempFolder(), 'berth');
  const sbomFile = join(folder, '../doc/sbom.cdx.json');
  await mkdir(folder);
  await runCommand(process.execPath, [PACK, REPOSITORY, app, folder, sbomFile], { timeoutMs: STEP_MS });
  return { folder, sbom: JSON.parse(readFileSync(sbomFile, 'utf8')) as Sbom };
}

/** Starts the app with an empty environment, in its folder alone: it has to come as far as reading its settings. */
const complaintOf = async ({ folder }: Packed): Promise<string> => {
  const how = { timeoutMs: STEP_MS, cwd: folder, env: {} };
  const ending = runCommand(process.execPath, ['app/dist/main.js'], how).then(
    () => 'it ran',
    (error: Error) => error.message,
  );
  return ending;
};

const filesOf = async ({ folder }: Packed, pattern: string): Promise<string[]> => {
  const found: string[] = [];
  for await (const path of glob(pattern, { cwd: folder })) found.push(path);
  return found;
};

describe('an app as its image has it', () => {
  test.each([
    ['management-api', 'pg', 'dockerode'],
    ['job-router', 'fastify', 'typeorm'],
    ['worker-agent', 'dockerode', 'typeorm'],
  ])('%s starts from what was taken, with %s and without %s', async (app, needed, foreign) => {
    const packed = await pack(app);
    expect(await complaintOf(packed)).toMatch(/Bad settings:\s+BERTH_NATS_URL is missing/);
    const names = packed.sbom.components.map(({ purl }) => purl.replace(/^pkg:npm\/(.*)@[^@]+$/, '$1'));
    expect(names).toContain(needed);
    expect(names).not.toContain(foreign);
    expect(names).not.toContain('jest');
    expect(packed.sbom.components.every(({ hashes }) => hashes[0]?.content.length === 128)).toBe(true);
    // What the folder has is what the list says.
    const folders = await filesOf(packed, 'node_modules/{[!@.]*,@*/*}/package.json');
    const taken = folders
      .map((path) => path.split('/').slice(1, -1).join('/'))
      .filter((name) => !name.startsWith('@berth/'));
    expect(names.map((name) => name.replace('%40', '@'))).toEqual(expect.arrayContaining(taken));
  });

  test('has nothing that does not run', async () => {
    const packed = await pack('worker-agent');
    expect(await filesOf(packed, 'node_modules/**/*.d.ts')).toEqual([]);
    expect(await filesOf(packed, '{apps,libs}/**/{src,test}')).toEqual([]);
    expect(await filesOf(packed, 'node_modules/bare-*')).toEqual([]);
    expect(await filesOf(packed, 'apps/*')).toEqual(['apps/worker-agent']);
    expect(await filesOf(packed, 'node_modules/pino/LICENSE')).toEqual(['node_modules/pino/LICENSE']);
  });
});
