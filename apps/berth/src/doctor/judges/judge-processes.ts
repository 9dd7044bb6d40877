import type { ConnectionFailure } from '../../connections/index.js';
import { someOf, well, wrong, type Finding } from '../finding.js';
import { judgeFailure } from './judge-failure.js';
import { judgeCertificate, judgeClock } from './judge-shared.js';

/** What a process of ours shows to those who look after it. */
export interface OperationsFacts {
  readonly url: string;
  /** Of `/readyz`. */
  readonly readiness: {
    readonly status: string;
    /** What it needs and has not got, each with the reason. */
    readonly down: readonly string[];
    readonly degraded: readonly string[];
  };
  /** Of `/metrics`; null: it does not say. */
  readonly build: { readonly process: string; readonly version: string } | null;
}

export function judgeOperations({ build, readiness, url }: OperationsFacts, ownVersion: string): readonly Finding[] {
  const what = build === null ? url : `${build.process} (${url})`;
  const { degraded, down, status } = readiness;
  return [
    status === 'ready'
      ? well('processes', `${what}: ready`)
      : wrong('processes', `${what}: ${status}${down.length === 0 ? '' : `: ${someOf(down)}`}`, 'mend what it lacks'),
    ...(degraded.length === 0 ? [] : [wrong('processes', `${what}: ${someOf(degraded)}`, 'its log says more')]),
    ...(build === null ? [] : [judgeVersion(what, build.version, ownVersion)]),
  ];
}

function judgeVersion(what: string, version: string, ownVersion: string): Finding {
  if (version === ownVersion) return well('processes', `${what}: version ${version}`);
  return wrong(
    'processes',
    `${what}: version ${version}, and this program is ${ownVersion}`,
    'bring both to one version, in the order of docs/production.md',
  );
}

/** How an address that clients call answers whoever shows no key. */
export interface PublicFacts {
  readonly status: number;
  /** Null: it says no date. */
  readonly clockOffsetMs: number | null;
  readonly certificateUntilMs: number | null;
}

export interface PublicTarget {
  /** Such as `management API`. */
  readonly what: string;
  readonly setting: 'BERTH_BASE_URL' | 'BERTH_RUN_URL';
  readonly url: string;
}

const SERVER_FAULT = 500;

export const judgePublic = (
  { setting, url, what }: PublicTarget,
  facts: PublicFacts,
  nowMs: number,
): readonly Finding[] => [
  facts.status < SERVER_FAULT
    ? well('processes', `${what}: answers at ${url}`)
    : wrong(
        'processes',
        `${what}: ${url} answers ${String(facts.status)}`,
        `is it ready, and does ${setting}, or the proxy behind it, name it?`,
      ),
  ...(facts.clockOffsetMs === null ? [] : [judgeClock(`the clock of the ${what}`, facts.clockOffsetMs)]),
  ...judgeCertificate(what, facts.certificateUntilMs, nowMs),
];

export const judgePublicFailure = ({ setting, url, what }: PublicTarget, failure: ConnectionFailure): Finding =>
  judgeFailure({ area: 'processes', what: `${what} (${url})`, setting }, failure);

export const judgeOperationsFailure = (url: string, failure: ConnectionFailure): Finding =>
  judgeFailure({ area: 'processes', what: url, setting: 'BERTH_OPERATIONS_URLS' }, failure);
