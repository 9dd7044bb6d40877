/**
 * Writes what of the chart is made of other files: its copies of dashboards and alerts, because a chart reads nothing outside
 * of itself, and for each set of values in `helm/berth/test` what the chart makes of it, so that a review sees it.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { keepGenerated } from './generated-file.mjs';

const run = promisify(execFile);
const REPOSITORY = new URL('../../', import.meta.url);
const CHART = new URL('helm/berth/', REPOSITORY);
const COMMAND = 'npm run chart';
const VALUES = '.values.yaml';
const OUTPUT_MAX_BYTES = 16 * 1024 * 1024;
/** By the folder that they are kept in: the chart's own. */
const COPIES = [
  { from: 'deploy/grafana/dashboards/', to: 'files/dashboards/', extension: '.json' },
  { from: 'deploy/prometheus/', to: 'files/alerts/', extension: '.yaml' },
];

for (const { extension, from, to } of COPIES) {
  const folder = new URL(from, REPOSITORY);
  const names = existsSync(folder) ? await readdir(folder) : [];
  for (const name of names.filter((each) => each.endsWith(extension) && !each.includes('.test.'))) {
    await keepGenerated(new URL(`${to}${name}`, CHART), await readFile(new URL(name, folder), 'utf8'), COMMAND);
  }
}

const { stdout: programs } = await run(fileURLToPath(new URL('tools/kubernetes/build.sh', REPOSITORY)), ['helm']);
const sets = (await readdir(new URL('test/', CHART))).filter((name) => name.endsWith(VALUES));
for (const set of sets) {
  const words = ['template', 'berth', fileURLToPath(CHART), '--namespace', 'berth', '--values'];
  const values = new URL(`test/${set}`, CHART);
  const rendered = await run(`${programs.trim()}/helm`, [...words, fileURLToPath(values)], {
    maxBuffer: OUTPUT_MAX_BYTES,
  });
  await keepGenerated(new URL(set.replace(VALUES, '.golden.yaml'), values), rendered.stdout, COMMAND);
}
