import { chmod, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { useTempFolders } from '@berth/testing/folders';
import { beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { environmentWith } from './config.js';

const SCRIPT = resolve(import.meta.dirname, '../../images/build.sh');
const NAMES = 'berth, management-api, job-router, worker-agent, nats-server, node-echo, python-echo';
const PROGRAMS = '/usr/bin:/bin';

const newFolder = useTempFolders();
/** A `docker` whose engine does not answer, in a folder of its own. */
let silent: string;

beforeAll(async () => {
  silent = await newFolder();
  const docker = '#!/bin/sh\necho "Cannot connect to the Docker daemon" >&2\nexit 1\n';
  await writeFile(join(silent, 'docker'), docker);
  await chmod(join(silent, 'docker'), 0o755);
});

interface Ended {
  readonly code: number;
  readonly said: string;
  readonly complained: string;
}

const build = (path: string, ...words: readonly string[]): Promise<Ended> =>
  new Promise((done) => {
    const env = environmentWith({ PATH: path, DOCKER_HOST: 'unix:///nowhere/docker.sock' });
    const child = execFile(SCRIPT, words, { env }, (_error, said, complained) => {
      done({ code: child.exitCode ?? -1, said, complained });
    });
  });

test('says what it does, without an engine', async () => {
  const { code, said } = await build(PROGRAMS, '--help');
  expect(code).toBe(0);
  expect(said).toContain(
    'tools/images/build.sh [--no-registry | --packed] [--platform linux/amd64 | linux/arm64] [NAME …]',
  );
  expect(said).toContain(NAMES);
});

test.each([
  ['job-ruoter', "There is no image 'job-ruoter'."],
  ['--no-registy', "There is no option '--no-registy'."],
  ['--platform linux/arm', "There is no platform 'linux/arm': linux/amd64, linux/arm64."],
  ['--platform', "There is no platform '': linux/amd64, linux/arm64."],
  ['--packed --platform linux/arm64', '--packed builds for this machine alone.'],
])('refuses %s and says what there is', async (words, why) => {
  const { code, complained } = await build(`${silent}:${PROGRAMS}`, 'berth', ...words.split(' '));
  expect(code).toBe(2);
  expect(complained).toContain(why);
  expect(complained).toContain(NAMES);
});

test('says what mends it where no engine answers', async () => {
  const { code, complained } = await build(`${silent}:${PROGRAMS}`, 'berth');
  expect(code).toBe(1);
  expect(complained).toContain('No container engine answers at unix:///nowhere/docker.sock');
  expect(complained).toContain('Cannot connect to the Docker daemon');
  expect(complained).toContain('systemctl start docker');
});
