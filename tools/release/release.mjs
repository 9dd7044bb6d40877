/**
 * Makes a release of what is committed: `npm run release -- 0.2.0`. The version goes into every package, the chart, and
 * wherever images are named; what the changelog has under `Unreleased` gets it as its heading, and one commit with the tag
 * `v0.2.0` holds all of it. The first release may be of the version that the packages have from the beginning. A second
 * commit names the first as the version that what comes next is tried beside. Nothing is pushed, and where anything is
 * amiss nothing is changed.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changelogOf, faultOfVersion, wasReleased } from './changelog.mjs';
import { NAMING_PATHS, namedIn } from './named-versions.mjs';

const ROOT = process.cwd();
const CHANGELOG = join(ROOT, 'CHANGELOG.md');
const PREVIOUS = join(ROOT, 'tools/versions/previous.json');

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

/** Whoever follows a page, Docker Compose or the chart gets the images of this version. */
function nameVersion(version) {
  const paths = run('git', 'ls-files', '--', ...NAMING_PATHS).split('\n');
  for (const path of paths.filter((each) => /\.(md|yaml)$/.test(each))) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const named = namedIn(path, text, version);
    if (named !== text) writeFileSync(join(ROOT, path), named);
  }
}

/** After the release: until its commit was made, the version before was the last one. */
function setPreviousVersion(version) {
  const previous = { version, commit: run('git', 'rev-parse', 'HEAD') };
  writeFileSync(PREVIOUS, `${JSON.stringify(previous, null, 2)}\n`);
  run('git', 'commit', '--all', '--message', `test(versions): what comes next is tried beside ${version}`);
}

function release(version) {
  const { version: present } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const said = readFileSync(CHANGELOG, 'utf8');
  const fault = faultOfVersion(version, present, wasReleased(said, present));
  refuseUnless(fault === null, fault);
  refuseUnless(run('git', 'status', '--porcelain') === '', 'There are changes that are not committed.');
  refuseUnless(run('git', 'tag', '--list', `v${version}`) === '', `There is a tag v${version} already.`);
  const today = new Date().toISOString().slice(0, 10);
  const changelog = changelogOf(said, version, today);
  refuseUnless(changelog !== null, 'CHANGELOG.md says nothing under `## Unreleased`.');
  const before = run('git', 'rev-parse', 'HEAD');
  try {
    makeRelease(version, changelog);
  } catch (error) {
    takeBack(before, version);
    throw error;
  }
  console.log(`Berth ${version} is committed and has the tag v${version}. Publish it: git push --follow-tags`);
}

function makeRelease(version, changelog) {
  const all = ['--workspaces', '--include-workspace-root', '--workspaces-update=false'];
  run('npm', 'version', version, ...all, '--no-git-tag-version', '--allow-same-version');
  run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund');
  nameVersion(version);
  writeFileSync(CHANGELOG, changelog);
  run('git', 'commit', '--all', '--message', `chore(release): ${version}`);
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Berth ${version}`);
  setPreviousVersion(version);
}

/** All was committed when the release began, so nothing of anybody else's goes. */
function takeBack(before, version) {
  run('git', 'reset', '--hard', '--quiet', before);
  if (run('git', 'tag', '--list', `v${version}`) !== '') run('git', 'tag', '--delete', `v${version}`);
}

try {
  release(process.argv[2] ?? '');
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}
