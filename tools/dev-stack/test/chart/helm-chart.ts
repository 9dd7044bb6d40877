import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { loadAllYaml, type V1PodSpec } from '@kubernetes/client-node';
import { runCommand } from '@berth/servers';

const run = promisify(execFile);
const REPOSITORY = resolve(import.meta.dirname, '../../../..');
const OUTPUT_MAX_BYTES = 16 * 1024 * 1024;
/** Helm may have to be built. */
const BUILD_MS = 900_000;

export const CHART = join(REPOSITORY, 'helm/berth');
export const DEPLOY = join(REPOSITORY, 'deploy/kubernetes');
/** Sets of values, each with what is to become of it beside it. */
export const VALUE_SETS = ['own-servers', 'service', 'trial'] as const;
export type ValueSet = (typeof VALUE_SETS)[number];

/** What every object of a cluster has, and of its spec what the tests look at. */
export interface ClusterObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly rules?: unknown;
  readonly data?: unknown;
  readonly spec?: Readonly<Record<string, unknown>>;
}

export const valuesFile = (set: ValueSet): string => join(CHART, 'test', `${set}.values.yaml`);

/** @returns the folder of the program `helm`. */
export const buildHelm = async (): Promise<string> =>
  (await runCommand(join(REPOSITORY, 'tools/kubernetes/build.sh'), ['helm'], { timeoutMs: BUILD_MS })).trim();

/** Runs Helm. @throws an error with what it said */
export async function helm(programs: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await run(join(programs, 'helm'), words, { maxBuffer: OUTPUT_MAX_BYTES });
  return stdout;
}

/** What the chart makes of a set of values, and of more values given as `name=value`. */
export const render = (programs: string, set: ValueSet, ...more: readonly string[]): Promise<string> =>
  helm(
    ...[programs, 'template', 'berth', CHART, '--namespace', 'berth', '--values', valuesFile(set)],
    ...more.flatMap((each) => ['--set', each]),
  );

export const objectsOf = (text: string): readonly ClusterObject[] =>
  (loadAllYaml(text) as readonly (ClusterObject | null)[]).filter((each) => each !== null);

/** The Pods that an object makes, or is. */
export function podOf({ kind, spec }: ClusterObject): V1PodSpec | undefined {
  const template = spec?.['template'] as { readonly spec: V1PodSpec } | undefined;
  return kind === 'Pod' ? (spec as unknown as V1PodSpec) : template?.spec;
}
