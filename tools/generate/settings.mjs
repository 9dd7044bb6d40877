/**
 * Writes what every process can be told to `docs/settings.md`, and the part of `npm start` to where its help is made from.
 * Each `config.ts` is read with nothing set: what it asks for, and what it then takes, is what is written. Run it after
 * `npm run build`.
 */
import { format } from 'prettier';
import { readControllersConfig } from '../../apps/management-api/dist/controllers/config.js';
import {
  readBackupConfig,
  readDoctorConfig,
  readHostsConfig,
  readLogConfig,
  readRestoreConfig,
} from '../../apps/berth/dist/config.js';
import { readManagementConfig, readMigrateConfig } from '../../apps/management-api/dist/config.js';
import { readRouterConfig } from '../../apps/job-router/dist/config.js';
import { readAgentConfig } from '../../apps/worker-agent/dist/config.js';
import { RUNTIMES } from '../../apps/worker-agent/dist/runtimes/index.js';
import { ConfigReader } from '../../libs/lifecycle/dist/index.js';
import { HANDED_ON, readStack } from '../dev-stack/dist/config.js';
import { keepGenerated } from './generated-file.mjs';

const PAGE = new URL('../../docs/settings.md', import.meta.url);
const OF_START = new URL('../dev-stack/settings.json', import.meta.url);

/**
 * @typedef {{ name: string, meaning: string, values: string, fallback: string | null }} Setting
 * @typedef {Setting & { isRequired: boolean }} Row
 */

/**
 * @param {(read: ConfigReader) => unknown} readAll
 * @param {Record<string, string>} [environment]
 * @returns {Row[]}
 */
function rowsOf(readAll, environment = {}) {
  const reader = new ConfigReader(environment);
  readAll(reader);
  const isRequired = (/** @type {Setting} */ { name }) =>
    reader.problems.some((problem) => problem.startsWith(`${name} is missing`));
  return reader.settings.map((setting) => ({ ...setting, isRequired: isRequired(setting) }));
}

/** What the agent reads depends on what its workers run in: the row of the first runtime that reads it stands for all. */
function rowsOfAgent() {
  const byKind = RUNTIMES.map(({ kind }) => ({
    kind,
    rows: rowsOf((reader) => readAgentConfig(reader, {}), { BERTH_RUNTIME: kind }),
  }));
  const all = byKind.flatMap(({ rows }) => rows);
  const first = all.filter(({ name }, at) => all.findIndex((row) => row.name === name) === at);
  return first.map((row) => ({ ...row, meaning: `${row.meaning}${differences(row, byKind)}` }));
}

/**
 * @param {Row} row
 * @param {readonly { kind: string, rows: readonly Row[] }[]} byKind
 */
function differences({ name, fallback }, byKind) {
  const readers = byKind.flatMap(({ kind, rows }) => {
    const own = rows.find((row) => row.name === name);
    return own === undefined ? [] : [{ kind, fallback: own.fallback }];
  });
  const only = readers.map(({ kind }) => `\`${kind}\``).join(' or ');
  const others = readers.filter((reader) => reader.fallback !== fallback);
  return [
    ...(readers.length === byKind.length ? [] : [` Only with ${only}.`]),
    ...others.map((other) => ` With \`${other.kind}\` the default is \`${other.fallback}\`.`),
  ].join('');
}

/** @type {Record<string, Row[]>} */
const apps = {
  'management-api': rowsOf(readManagementConfig),
  controllers: rowsOf(readControllersConfig),
  'job-router': rowsOf(readRouterConfig),
  'worker-agent': rowsOfAgent(),
};

/** What is only handed on means what the process that reads it says. */
const start = rowsOf((reader) => readStack(reader, { folder: '.', repository: '.' })).map((row) => {
  const handedOn = HANDED_ON[row.name];
  if (handedOn === undefined) return row;
  const said = apps[handedOn.app]?.find(({ name }) => name === row.name);
  if (said === undefined) throw new Error(`${handedOn.app} does not read ${row.name}`);
  return { ...said, fallback: handedOn.fallback ?? said.fallback };
});

/** @param {Row} row */
function defaultOf({ fallback, isRequired }) {
  if (isRequired) return 'must be set';
  return fallback === null ? '–' : `\`${fallback}\``;
}

/** @param {readonly Row[]} rows */
const tableOf = (rows) =>
  [
    '| Variable | Meaning | Values | Default |',
    '| --- | --- | --- | --- |',
    ...rows.map((row) => `| \`${row.name}\` | ${row.meaning} | ${row.values} | ${defaultOf(row)} |`),
  ].join('\n');

const text = `# Settings

What each process reads from its environment, as its \`config.ts\` says it (\`npm run settings\` writes this page). An empty
variable is none. A value that cannot be used ends the process with exit status 1 and a line for each variable that is
wrong. –: nothing is set, and the meaning says what comes of it where that is not plain.

## \`npm start\`

Each is a flag, too: \`BERTH_LOG_LEVEL\` is \`--log-level\`. \`npm start\` sets all that its processes need; of theirs, only
these can be given to it.

${tableOf(start)}

${Object.entries(apps)
  .map(([name, rows]) => `## ${name}\n\n${tableOf(rows)}`)
  .join('\n\n')}

## \`npm run db:migrate\`

${tableOf(rowsOf(readMigrateConfig))}

## \`berth doctor\`

\`berth init\` writes all but the key to \`env/operator.env\`. What is not set is not looked at.

${tableOf(rowsOf(readDoctorConfig))}

## \`berth host\`

${tableOf(rowsOf(readHostsConfig))}

## \`berth backup\`

${tableOf(rowsOf(readBackupConfig))}

## \`berth restore\`

${tableOf(rowsOf(readRestoreConfig))}

## \`berth log\`

${tableOf(rowsOf(readLogConfig))}
`;

const ofStart = start.map(({ name, meaning, values, fallback }) => ({ variable: name, meaning, values, fallback }));
await keepGenerated(PAGE, await format(text, { parser: 'markdown', printWidth: 120 }), 'npm run settings');
await keepGenerated(OF_START, await format(JSON.stringify(ofStart), { parser: 'json' }), 'npm run settings');
