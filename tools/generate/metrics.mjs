/**
 * Writes what can be seen of every process to `docs/metrics.md`. Each room declares its metrics in a `metrics.ts`, whose
 * functions are called here with a registry that nobody reads. Run it after `npm run build`.
 */
import { glob } from 'node:fs/promises';
import { format } from 'prettier';
import { MetricRegistry } from '../../libs/telemetry/dist/index.js';
import { keepGenerated } from './generated-file.mjs';

const ROOT = new URL('../../', import.meta.url);
const PAGE = new URL('docs/metrics.md', ROOT);

/** @typedef {import('../../libs/telemetry/src/metrics/metric-registry.js').DeclaredMetric} DeclaredMetric */

const EVERY = ['management-api', 'controllers', 'job-router', 'worker-agent'];

/**
 * The second word of a name says who has it.
 *
 * @type {Record<string, readonly string[]>}
 */
const PROCESSES = {
  build: EVERY,
  certificate: EVERY,
  router: ['job-router'],
  agent: ['worker-agent'],
  management: ['management-api'],
  controllers: ['controllers'],
  catalog: ['management-api', 'controllers'],
  http: ['job-router', 'management-api'],
  unreadable: ['job-router', 'management-api', 'controllers'],
  failed: ['job-router'],
  trace: ['management-api', 'job-router', 'worker-agent'],
};

/** A gauge is told what to read; nothing is read here. */
const noReading = () => 0;

/** @param {MetricRegistry} registry */
async function declareAll(registry) {
  for await (const file of glob('{apps,libs}/*/dist/**/metrics.js', { cwd: ROOT })) {
    const room = await import(new URL(file, ROOT).href);
    for (const declare of Object.values(room)) declare(registry, noReading, noReading);
  }
}

/** @param {DeclaredMetric} metric */
function processesOf({ name }) {
  const processes = PROCESSES[name.split('_')[1] ?? ''];
  if (processes === undefined) throw new Error(`${name}: say in PROCESSES which processes have it.`);
  return processes;
}

/** @param {DeclaredMetric} metric */
function rowOf({ help, labels, name, type }) {
  const said = labels.map((label) => `\`${label}\``).join(', ');
  return `| \`${name}\` | ${type} | ${said === '' ? '–' : said} | ${help.replaceAll('|', '\\|')} |`;
}

/** @param {readonly DeclaredMetric[]} metrics */
const tableOf = (metrics) =>
  ['| Name | Type | Labels | What it says |', '| --- | --- | --- | --- |', ...metrics.map(rowOf)].join('\n');

const registry = new MetricRegistry();
await declareAll(registry);
const groups = Map.groupBy(registry.declared, (metric) => processesOf(metric).join(', '));

const text = `# Metrics

What each process shows at \`/metrics\` of its operations port, as the code declares it (\`npm run metrics\` writes this page).
Names begin with \`berth_\` and are in base units. Beside these each process shows those of Node.js and of the process by their
usual names behind the same prefix, such as \`berth_process_resident_memory_bytes\` and \`berth_nodejs_eventloop_lag_p99_seconds\`.

${[...groups]
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, metrics]) => `## ${name}\n\n${tableOf(metrics)}`)
  .join('\n\n')}
`;
await keepGenerated(PAGE, await format(text, { parser: 'markdown', printWidth: 120 }), 'npm run metrics');
