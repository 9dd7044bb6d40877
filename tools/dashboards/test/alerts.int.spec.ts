import { copyFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { findPromtool, makeTempFolder, runCommand, type TempFolder } from '@berth/servers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ALERTS, ALERT_TESTS } from './alert-rules.js';

const COMPOSE = resolve(import.meta.dirname, '../../../deploy/compose/prometheus/prometheus.yml');
/** It may have to be fetched. */
const FOUND_WITHIN_MS = 300_000;
const RUN = { timeoutMs: 60_000 };

let promtool: string;
let folder: TempFolder;

beforeAll(async () => {
  promtool = await findPromtool();
  folder = await makeTempFolder('berth-alerts');
  // As compose mounts them.
  for (const file of [ALERTS, ALERT_TESTS, COMPOSE]) await copyFile(file, join(folder.path, basename(file)));
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
