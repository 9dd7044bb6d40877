/**
 * Makes a release of what is committed: `npm run release -- 0.2.0`. The version goes into every package and the chart, what
 * the changelog has under `Unreleased` gets it as its heading, and one commit with the tag `v0.2.0` holds both. A second one
 * names the first as the version that what comes next is tried beside. Nothing is pushed, and where anything is amiss nothing
 * is changed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changelogOf, faultOfVersion } from './changelog.mjs';

const ROOT = process.cwd();
const CHANGELOG = join(ROOT, 'CHANGELOG.md');
const PREVIOUS = join(ROOT, 'tools/versions/previous.json');
const CHART = join(ROOT, 'helm/berth/Chart.yaml');

class ReleaseError extends Error {}

function run(command, ...args) {
  const { error, status, stderr, stdout } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' });
  if (error !== undefined || status !== 0)
    throw new ReleaseError(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr.trim()}`);
  return stdout.trim();
}

function refuseUnless(isSo, why) {
  if (!isSo) throw new ReleaseError(why);
}

/** The chart and the images that it names are of one version. */
function setChartVersion(version) {
  if (!existsSync(CHART)) return;
  const text = readFileSync(CHART, 'utf8');
  writeFileSync(
    CHART,
    text.replace(/^version: .*$/m, `version: ${version}`).replace(/^appVersion: .*$/m, `appVersion: '${version}'`),
  );
}

/** After the release: until its commit was made, the version before was the last one. */
function setPreviousVersion(version) {
  const previous = { version, commit: run('git', 'rev-parse', 'HEAD') };
  writeFileSync(PREVIOUS, `${JSON.stringify(previous, null, 2)}\n`);
  run('git', 'commit', '--all', '--message', `test(versions): what comes next is tried beside ${version}`);
}

function release(version) {
  const { version: present } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const fault = faultOfVersion(version, present);
  refuseUnless(fault === null, fault);
  refuseUnless(run('git', 'status', '--porcelain') === '', 'There are changes that are not committed.');
  refuseUnless(run('git', 'tag', '--list', `v${version}`) === '', `There is a tag v${version} already.`);
  const today = new Date().toISOString().slice(0, 10);
  const changelog = changelogOf(readFileSync(CHANGELOG, 'utf8'), version, today);
  refuseUnless(changelog !== null, 'CHANGELOG.md says nothing under `## Unreleased`.');
  const all = ['--workspaces', '--include-workspace-root', '--workspaces-update=false', '--no-git-tag-version'];
  run('npm', 'version', version, ...all);
  run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund');
  setChartVersion(version);
  writeFileSync(CHANGELOG, changelog);
  run('git', 'commit', '--all', '--message', `chore(release): ${version}`);
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Berth ${version}`);
  setPreviousVersion(version);
  console.log(`Berth ${version} is committed and has the tag v${version}. Publish it: git push --follow-tags`);
}

try {
  release(process.argv[2] ?? '');
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}
