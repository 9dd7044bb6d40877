import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { useTempFolders } from '@berth/testing/folders';
import { beforeEach, expect, test } from '@jest/globals';

const run = promisify(execFile);
const SCRIPT = resolve(import.meta.dirname, '../../release/release.mjs');
const CHANGELOG = '# Changelog\n\n## Unreleased\n\n- Ships sail.\n\n## 0.1.0 (2026-01-02)\n\n- There is a harbour.\n';
const PREVIOUS = 'tools/versions/previous.json';
/** What of a repository names versions, each file as it is before the release. */
const NAMING: Readonly<Record<string, string>> = {
  'helm/berth/Chart.yaml': "name: berth\nversion: 0.1.0\nappVersion: '0.1.0'\n",
  'helm/berth/test/trial.golden.yaml':
    'app.kubernetes.io/version: "0.1.0"\nhelm.sh/chart: berth-0.1.0\nimage: berth/worker-agent:0.1.0\n',
  'deploy/compose/compose.yaml': 'image: ${BERTH_BROKER_IMAGE:-berth/nats-server:0.1.0}\nimage: postgres:18\n',
  'docs/production.md': 'Run `docker run berth/berth:0.1.0 doctor`.\n',
};
/** What was so when it was written, and names that are not of the images. */
const OTHERS: Readonly<Record<string, string>> = {
  'docs/decisions/0001-images.md': 'It was seen with berth/berth:0.1.0.\n',
  'docs/networks.md': 'workers: { nodes: [10.1.0.0/16] }, berth/python-base:0.1.0\n',
};

const newFolder = useTempFolders();
let folder: string;

const at = (path: string): string => join(folder, path);
const git = async (...words: readonly string[]): Promise<string> => (await run('git', words, { cwd: folder })).stdout;
const versionOf = async (path: string): Promise<unknown> =>
  (JSON.parse(await readFile(at(path), 'utf8')) as { readonly version?: unknown }).version;

/** What it said on stderr; null: it ended well. */
async function release(version: string): Promise<string | null> {
  try {
    await run(process.execPath, [SCRIPT, version], { cwd: folder });
    return null;
  } catch (error) {
    return (error as { readonly stderr: string }).stderr.trim();
  }
}

beforeEach(async () => {
  folder = await newFolder();
  await mkdir(at('libs/one'), { recursive: true });
  await mkdir(at('tools/versions'), { recursive: true });
  for (const [path, text] of Object.entries({ ...NAMING, ...OTHERS })) {
    await mkdir(dirname(at(path)), { recursive: true });
    await writeFile(at(path), text);
  }
  const root = { name: 'ships', version: '0.1.0', private: true, workspaces: ['libs/*'] };
  await writeFile(at('package.json'), JSON.stringify(root));
  await writeFile(at('libs/one/package.json'), JSON.stringify({ name: 'one', version: '0.1.0' }));
  await writeFile(at('CHANGELOG.md'), CHANGELOG);
  await writeFile(at(PREVIOUS), '{}');
  await run('npm', ['install', '--package-lock-only', '--offline'], { cwd: folder });
  await git('init', '--quiet');
  await git('config', 'user.name', 'Test');
  await git('config', 'user.email', 'test@example.com');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'begin');
});

test('puts one version into every package, the lock file and the changelog, and tags it', async () => {
  expect(await release('0.2.0')).toBeNull();
  expect(await Promise.all(['package.json', 'libs/one/package.json', 'package-lock.json'].map(versionOf))).toEqual([
    '0.2.0',
    '0.2.0',
    '0.2.0',
  ]);
  const changelog = await readFile(at('CHANGELOG.md'), 'utf8');
  expect(changelog).toMatch(/## Unreleased\n\n## 0\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n- Ships sail\.\n\n## 0\.1\.0/);
  expect(await git('status', '--porcelain')).toBe('');
  expect((await git('describe', 'HEAD~1')).trim()).toBe('v0.2.0');
});

test('puts it into the chart and what it makes, into Docker Compose and the pages, and leaves other numbers alone', async () => {
  expect(await release('0.2.0')).toBeNull();
  for (const [path, text] of Object.entries(NAMING)) {
    expect([path, await readFile(at(path), 'utf8')]).toEqual([path, text.replaceAll('0.1.0', '0.2.0')]);
  }
  for (const [path, text] of Object.entries(OTHERS)) expect(await readFile(at(path), 'utf8')).toBe(text);
});

test('makes the first release of the version that every package has from the beginning', async () => {
  await writeFile(at('CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n- There is a harbour.\n');
  await git('commit', '--all', '--quiet', '--message', 'nothing was released');
  expect(await release('0.1.0')).toBeNull();
  expect(await versionOf('libs/one/package.json')).toBe('0.1.0');
  expect((await git('describe', 'HEAD~1')).trim()).toBe('v0.1.0');
  expect(await release('0.1.0')).toBe('release: 0.1.0 is not later than 0.1.0.');
});

test('names the release as the version before what comes next, and in the release itself the one before it', async () => {
  expect(await release('0.2.0')).toBeNull();
  const [first, second] = [await git('rev-parse', 'v0.2.0^{commit}'), await git('show', `v0.2.0:${PREVIOUS}`)];
  expect(JSON.parse(await readFile(at(PREVIOUS), 'utf8'))).toEqual({ version: '0.2.0', commit: first.trim() });
  expect(second).toBe('{}');
});

test.each([
  ['0.1.0', '0.1.0 is not later than 0.1.0.'],
  ['0.0.9', '0.0.9 is not later than 0.1.0.'],
  ['v0.2.0', "A version is three numbers, such as 0.2.0, and not 'v0.2.0'."],
])('refuses %s and changes nothing', async (version, why) => {
  expect(await release(version)).toBe(`release: ${why}`);
  expect(await git('status', '--porcelain')).toBe('');
  expect(await git('tag')).toBe('');
});

test.each([
  ['its commit is refused', '"$(git log -1 --format=%s)" = begin'],
  ['the second commit is refused', '"$(git log -1 --format=%s)" != begin'],
])('leaves nothing changed where %s', async (_, when) => {
  const before = await git('rev-parse', 'HEAD');
  await mkdir(at('.git/hooks'), { recursive: true });
  await writeFile(at('.git/hooks/pre-commit'), `#!/bin/sh\n[ ${when} ] && exit 1\nexit 0\n`, { mode: 0o755 });
  expect(await release('0.2.0')).toMatch(/^release: git commit .* failed/);
  expect([await git('rev-parse', 'HEAD'), await git('status', '--porcelain'), await git('tag')]).toEqual([
    before,
    '',
    '',
  ]);
  await writeFile(at('.git/hooks/pre-commit'), '#!/bin/sh\n', { mode: 0o755 });
  expect(await release('0.2.0')).toBeNull();
});

test('refuses where there are changes that are not committed, or nothing to tell', async () => {
  await writeFile(at('note.txt'), 'half done');
  expect(await release('0.2.0')).toBe('release: There are changes that are not committed.');
  await writeFile(at('CHANGELOG.md'), CHANGELOG.replace('- Ships sail.\n', ''));
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'nothing to tell');
  expect(await release('0.2.0')).toBe('release: CHANGELOG.md says nothing under `## Unreleased`.');
  expect(await git('tag')).toBe('');
});

test('pages, Docker Compose and the chart of this repository name images of its own version', async () => {
  const repository = resolve(import.meta.dirname, '../../..');
  const images = 'berth/(berth|job-router|management-api|nats-server|worker-agent):[0-9.]*[0-9]';
  const words = ['grep', '-hoE', images, '--', 'deploy', 'docs', 'helm', 'README.md', ':!docs/decisions'];
  const { stdout } = await run('git', words, { cwd: repository });
  const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as { version: string };
  expect([
    ...new Set(
      stdout
        .trim()
        .split('\n')
        .map((name) => name.split(':')[1]),
    ),
  ]).toEqual([version]);
});
