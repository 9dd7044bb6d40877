/**
 * Proves that every fence still stands. A fence that nobody tries is decoration: a rule renamed by an upgrade, or a project
 * graph that could not be read, lets everything through and says nothing.
 *
 * The fixtures are dropped into a copy of the working tree, because they have to sit in the real folders to meet the real
 * configuration, and must not be seen there by an editor, a build or a test run. The copy starts without a project graph,
 * as a fresh clone does.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, relative, resolve, sep } from 'node:path';

import { FENCES } from './fixtures.mjs';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const NOT_COPIED = new Set(['node_modules', 'dist', 'coverage', '.git', '.nx', '.berth', '.cache', '.engine']);
const COPIED = [
  'apps',
  'libs',
  'tools',
  'docs',
  'package.json',
  'package-lock.json',
  'nx.json',
  'tsconfig.base.json',
  'tsconfig.json',
  'eslint.config.mjs',
  'jest.config.mjs',
  'knip.jsonc',
  'lefthook.yml',
  '.dependency-cruiser.mjs',
  '.gitignore',
  '.prettierrc',
  '.swcrc',
];

async function copyRepository(to) {
  for (const entry of COPIED) {
    await cp(join(REPOSITORY, entry), join(to, entry), {
      recursive: true,
      filter: (source) => !NOT_COPIED.has(basename(source)),
    });
  }
  await symlink(join(REPOSITORY, 'node_modules'), join(to, 'node_modules'), 'junction');
}

async function writeFixtures(root) {
  for (const { rejected, accepted } of FENCES) {
    for (const [path, text] of Object.entries({ ...rejected, ...accepted })) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
  }
}

/** What a tool prints, whether or not it found something: findings are the expected outcome here. */
function outputOf(root, command, args) {
  const bin = join(root, 'node_modules/.bin');
  // The pinned Node of the repository comes first, whichever Node runs this file.
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, NX_DAEMON: 'false' };
  const options = { cwd: root, env, maxBuffer: 2 ** 28, shell: process.platform === 'win32' };
  return new Promise((resolveOutput, reject) => {
    execFile(join(bin, command), args, options, (error, stdout, stderr) => {
      if (error && stdout.trim() === '') reject(new Error(`${command} said nothing: ${stderr}`, { cause: error }));
      else resolveOutput(stdout);
    });
  });
}

const jsonIn = (text) => JSON.parse(text.slice(text.search(/^[[{]/m)));
const filesOf = (tool, side) =>
  FENCES.filter((entry) => entry.tool === tool).flatMap((entry) => Object.keys(entry[side]));

/** Each tool as a function to findings `{ file, rule, says }`, files relative to the root with forward slashes. */
const TOOLS = {
  async eslint(root) {
    const files = [...filesOf('eslint', 'rejected'), ...filesOf('eslint', 'accepted')];
    const results = jsonIn(await outputOf(root, 'eslint', ['--format', 'json', ...files]));
    return results.flatMap((result) =>
      result.messages.map(({ ruleId, message }) => ({
        file: relative(root, result.filePath).split(sep).join('/'),
        rule: ruleId ?? 'fatal',
        says: message,
      })),
    );
  },
  async tsc(root) {
    const text = await outputOf(root, 'tsc', ['-p', 'libs/domain/tsconfig.pure.json', '--pretty', 'false']);
    return [...text.matchAll(/^(.+?)\(\d+,\d+\): error (TS\d+): (.*)$/gm)].map(([, file, rule, says]) => ({
      file,
      rule,
      says,
    }));
  },
  async depcruise(root) {
    const args = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'libs', 'apps', 'tools'];
    const { summary } = jsonIn(await outputOf(root, 'depcruise', args));
    // A cycle is reported once, from one of its files, and is a finding about each of them.
    return summary.violations.flatMap(({ from, to, rule, cycle = [] }) =>
      [...new Set([from, ...cycle.map(({ name }) => name)])].map((file) => ({ file, rule: rule.name, says: to })),
    );
  },
  async knip(root) {
    const { issues } = jsonIn(await outputOf(root, 'knip', ['--reporter', 'json']));
    return issues.flatMap(({ file, ...kinds }) =>
      Object.entries(kinds)
        .filter(([, found]) => Array.isArray(found) && found.length > 0)
        .map(([rule, found]) => ({ file, rule, says: found.map(({ name }) => name).join(', ') })),
    );
  },
};

/** What is wrong with one fence, as sentences; none when it stands. */
function faultsOf({ rules, rejected, accepted }, findings) {
  const isRejected = (file, rule) => findings.some((found) => found.file === file && (!rule || found.rule === rule));
  const files = Object.keys(rejected);
  return [
    ...files.filter((file) => !rules.some((rule) => isRejected(file, rule))).map((file) => `${file} is let through`),
    ...rules.filter((rule) => !files.some((file) => isRejected(file, rule))).map((rule) => `${rule} finds nothing`),
    ...findings
      .filter(({ file }) => Object.hasOwn(accepted, file))
      .map(({ file, rule, says }) => `${file} is rejected by ${rule}: ${says}`),
  ];
}

async function main() {
  const root = await mkdtemp(join(tmpdir(), 'berth-fences-'));
  try {
    await copyRepository(root);
    await writeFixtures(root);
    // Without a project graph @nx/enforce-module-boundaries skips itself, and ESLint ends well on the code it should reject.
    await outputOf(root, 'nx', ['show', 'projects']);
    const tools = [...new Set(FENCES.map(({ tool }) => tool))];
    const found = Object.fromEntries(await Promise.all(tools.map(async (tool) => [tool, await TOOLS[tool](root)])));

    const broken = FENCES.filter((entry) => {
      const faults = faultsOf(entry, found[entry.tool]);
      console.log(`${faults.length === 0 ? 'stands' : 'BROKEN'}  ${entry.tool}: ${entry.fence}`);
      for (const fault of faults) console.log(`        ${fault}`);
      return faults.length > 0;
    });
    console.log(`${FENCES.length - broken.length} of ${FENCES.length} fences stand`);
    process.exitCode = broken.length > 0 ? 1 : 0;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

await main();
