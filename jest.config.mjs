import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const swc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
delete swc.$schema;

// One place says how a test file is compiled and resolved; the kinds below differ only in which files they own.
const kind = (displayName, testMatch) => ({
  displayName,
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/tools'],
  testMatch,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': ['@swc/jest', { ...swc, swcrc: false, sourceMaps: 'inline' }] },
  // `js` stands before `ts`: a dependency that ships its sources beside its build must resolve to the build.
  moduleFileExtensions: ['js', 'mjs', 'cjs', 'ts', 'json', 'node'],
  moduleNameMapper: {
    '^@berth/broker-access/certificates$': '<rootDir>/libs/broker-access/src/certificates.ts',
    '^@berth/tunnel/conformance$': '<rootDir>/libs/tunnel/src/worker-link.conformance.ts',
    '^@berth/contracts/http$': '<rootDir>/libs/contracts/src/http/index.ts',
    '^@berth/domain/shape$': '<rootDir>/libs/domain/src/shape/index.ts',
    '^@berth/testing/([^/]+)$': '<rootDir>/libs/testing/src/$1/index.ts',
    '^@berth/([^/]+)$': ['<rootDir>/libs/$1/src/index.ts', '<rootDir>/tools/$1/src/index.ts'],
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['/dist/', '/\\.nx/', '/\\.berth/'],
});

// Tests of containers, and of a cluster, need a machine that lets a private one run, those of the chart a Go that builds Helm.
// Those of the version before this one need the history that holds it. Where that is not there they are left out, which is
// said; with BERTH_TEST_ENGINE=required, or BERTH_TEST_CLUSTER=required, or BERTH_TEST_CHART=required, or
// BERTH_TEST_PREVIOUS=required, they run anyway, and fail.
const mustLeaveOut = (what, variable, path) => {
  if (process.env[variable] === 'required') return false;
  const script = fileURLToPath(new URL(path, import.meta.url));
  const { status, stdout, error } = spawnSync(script, { encoding: 'utf8' });
  if (status === 0) return false;
  process.stderr.write(`Tests of ${what} are left out. ${stdout?.trim() || error?.message}\n`);
  return true;
};
const leaveOutEngine = () => mustLeaveOut('containers', 'BERTH_TEST_ENGINE', 'tools/engine/engine-available.sh');
const leaveOutChart = () => mustLeaveOut('the chart', 'BERTH_TEST_CHART', 'tools/kubernetes/helm-available.sh');
const leaveOutCluster = () => mustLeaveOut('a cluster', 'BERTH_TEST_CLUSTER', 'tools/kubernetes/available.sh');
const leaveOutPrevious = () =>
  mustLeaveOut('the version before this one', 'BERTH_TEST_PREVIOUS', 'tools/versions/available.mjs');

export default {
  // A machine that does other work too may be slow, or stand still for a minute; what never ends is still found.
  testTimeout: 240_000,
  maxWorkers: availableParallelism(),
  // A worker keeps what each suite's modules took. Unbounded it spends its time collecting garbage, and dies at 4 GB.
  workerIdleMemoryLimit: '1GB',
  projects: [
    kind('unit', ['**/*.spec.ts', '!**/*.{int,e2e,system,engine,cluster,chart,fault,previous}.spec.ts']),
    kind('int', ['**/*.int.spec.ts']),
    kind('e2e', ['**/*.e2e.spec.ts']),
    kind('system', ['**/*.system.spec.ts']),
    kind('fault', ['**/*.fault.spec.ts']),
    ...(leaveOutEngine() ? [] : [kind('engine', ['**/*.engine.spec.ts'])]),
    ...(leaveOutChart() ? [] : [kind('chart', ['**/*.chart.spec.ts'])]),
    ...(leaveOutCluster() ? [] : [kind('cluster', ['**/*.cluster.spec.ts'])]),
    ...(leaveOutPrevious() ? [] : [kind('previous', ['**/*.previous.spec.ts'])]),
  ],
};
