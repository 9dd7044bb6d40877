import { copyFile, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { findPromtool, makeTempFolder, runCommand, type TempFolder } from '@berth/servers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ALERTS, ALERT_TESTS } from './alert-rules.js';

const COMPOSE = resolve(import.meta.dirname, '../../../deploy/compose');
const CONFIG = join(COMPOSE, 'prometheus/prometheus.yml');
const AGENTS = join(COMPOSE, 'prometheus/agents.yaml');
/** It may have to be fetched. */
const FOUND_WITHIN_MS = 300_000;
const RUN = { timeoutMs: 60_000 };

let promtool: string;
let folder: TempFolder;

beforeAll(async () => {
  promtool = await findPromtool();
  folder = await makeTempFolder('berth-alerts');
  // As compose mounts them.
  for (const file of [ALERTS, ALERT_TESTS, CONFIG, AGENTS]) await copyFile(file, join(folder.path, basename(file)));
}, FOUND_WITHIN_MS);
afterAll(() => folder.remove());

const inFolder = (file: string): string => join(folder.path, file);

test('the configuration of compose is one, with the alerts in it', async () => {
  expect(await runCommand(promtool, ['check', 'config', inFolder('prometheus.yml')], RUN)).toMatch(
    /alerts\.yaml\s+SUCCESS: \d\d rules found/,
  );
});

test('each alert fires where it should, and does not where it should not', async () => {
  expect(await runCommand(promtool, ['test', 'rules', inFolder('alerts.test.yaml')], RUN)).toContain('SUCCESS');
});

interface Group {
  readonly targets: readonly string[];
}
interface ScrapeConfig {
  readonly job_name: string;
  readonly static_configs?: readonly Group[];
  readonly file_sd_configs?: readonly { readonly files: readonly string[] }[];
}
interface Service {
  readonly profiles?: readonly string[];
  readonly volumes?: readonly (string | object)[];
}

const readYaml = async <T>(file: string): Promise<T> => parse(await readFile(file, 'utf8'), { merge: true }) as T;
const groupsOf = (file: string): Promise<readonly Group[]> => readYaml(join(COMPOSE, 'prometheus', file));

test('compose asks only what is there and can be asked, and an agent once it may be', async () => {
  const { scrape_configs: jobs } = await readYaml<{ readonly scrape_configs: readonly ScrapeConfig[] }>(CONFIG);
  const { services } = await readYaml<{ readonly services: Readonly<Record<string, Service>> }>(
    join(COMPOSE, 'compose.yaml'),
  );
  const fixed = jobs.flatMap(({ static_configs: groups = [] }) => groups.flatMap(({ targets }) => targets));
  const hosts = fixed.map((target) => target.split(':')[0] ?? '').filter((host) => host !== '127.0.0.1');
  expect(hosts.filter((host) => services[host] === undefined)).toEqual([]);
  expect(
    hosts.flatMap((host) => services[host]?.profiles ?? []).filter((profile) => profile !== 'observability'),
  ).toEqual([]);
  const agents = jobs.filter(({ job_name: name }) => name === 'worker-agent');
  expect(agents.map(({ file_sd_configs: configs = [] }) => configs.flatMap(({ files }) => files))).toEqual([
    ['agents.yaml'],
  ]);
  expect(services['prometheus']?.volumes).toContain(
    './prometheus/${BERTH_AGENT_OPERATIONS_HOST:+here/}agents.yaml:/etc/prometheus/agents.yaml:ro',
  );
  expect((await groupsOf('agents.yaml')).flatMap(({ targets }) => targets)).toEqual([]);
  expect((await groupsOf('here/agents.yaml')).flatMap(({ targets }) => targets)).toEqual(['host.docker.internal:9103']);
});
