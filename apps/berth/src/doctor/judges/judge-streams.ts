import type { ClaimSurvey } from '@berth/domain';
import type { StreamReport, StreamState, TopologyReport } from '@berth/messaging';
import { someOf, well, wrong, type Finding } from '../finding.js';

/** What the installation is told to have. */
export interface StreamTerms {
  readonly replicas: number;
  /** That all of them together may take on disk. */
  readonly storageBytes: number;
}

type Found = Extract<StreamState, { readonly kind: 'found' }>;

interface Fault {
  readonly isSo: (state: StreamState, terms: StreamTerms) => boolean;
  readonly says: string;
  readonly mend: string;
}

const ofFound =
  (isSo: (state: Found, terms: StreamTerms) => boolean): Fault['isSo'] =>
  (state, terms) =>
    state.kind === 'found' && isSo(state, terms);

const FULL_SHARE = 0.8;
const percentOf = (share: number): string => `${String(Math.round(share * 100))} %`;

const FAULTS: readonly Fault[] = [
  {
    isSo: ({ kind }) => kind === 'missing',
    says: 'missing',
    mend: 'start the management API and a job router: each makes its own; if they held data, restore a backup',
  },
  {
    isSo: ({ kind }) => kind === 'unanswered',
    says: 'without an answer, so without a leader',
    mend: 'start the brokers that are down: of three, two must be there',
  },
  {
    isSo: ({ kind }) => kind === 'refused',
    says: 'not told of to this role',
    mend: 'BERTH_NATS_SEED must be that of env/operator.env, and the brokers must have the broker/*.conf beside it',
  },
  {
    isSo: ofFound(({ hasLeader }) => !hasLeader),
    says: 'without a leader',
    mend: 'start the brokers that are down: of three, two must be there',
  },
  {
    isSo: ofFound(({ replicas }, terms) => replicas !== terms.replicas),
    says: 'with another number of copies than BERTH_NATS_REPLICAS says',
    mend: 'start the management API and a job router with that BERTH_NATS_REPLICAS: they change it',
  },
  {
    isSo: ofFound(({ peers }) => peers.some(({ isCurrent, isOffline }) => isOffline || !isCurrent)),
    says: 'with a copy that is away or behind',
    mend: 'start the broker that is down; one that came back needs a while',
  },
  {
    isSo: ofFound(({ bytes, maxBytes }) => maxBytes !== null && bytes >= maxBytes * FULL_SHARE),
    says: `filled by ${percentOf(FULL_SHARE)} and more`,
    mend: 'docs/runbooks/store-filling.md; BERTH_NATS_STORAGE_BYTES of management API and routers bounds them',
  },
];

export function judgeStreams(report: TopologyReport, terms: StreamTerms): readonly Finding[] {
  const faulty = FAULTS.flatMap(({ isSo, mend, says }) => {
    const of = report.streams.filter(({ state }) => isSo(state, terms));
    return of.length === 0 ? [] : [wrong('streams', `${namesOf(of)}: ${says}${reasonsOf(of)}`, mend)];
  });
  const whole = `all ${String(report.streams.length)} are there, ${String(terms.replicas)} up-to-date copies each`;
  return [...(faulty.length === 0 ? [well('streams', whole)] : faulty), judgeDisk(report, terms)];
}

const namesOf = (streams: readonly StreamReport[]): string => someOf(streams.map(({ name }) => name));

/** Which servers are meant, where that is known. */
function reasonsOf(streams: readonly StreamReport[]): string {
  const peers = streams.flatMap(({ state }) => (state.kind === 'found' ? state.peers : []));
  const away = new Set(peers.filter(({ isCurrent, isOffline }) => isOffline || !isCurrent).map(({ name }) => name));
  return away.size === 0 ? '' : ` (${someOf([...away])})`;
}

const GIB = 1_024 ** 3;

function judgeDisk({ diskBytes, diskMaxBytes }: TopologyReport, { storageBytes }: StreamTerms): Finding {
  const max = Math.min(storageBytes, diskMaxBytes ?? storageBytes);
  const says = `${(diskBytes / GIB).toFixed(2)} of ${(max / GIB).toFixed(2)} GiB on disk are used`;
  if (diskBytes < max * FULL_SHARE) return well('streams', says);
  return wrong(
    'streams',
    says,
    'docs/runbooks/store-filling.md; give the brokers more disk and BERTH_NATS_STORAGE_BYTES',
  );
}

/** Which routers are there, and whether each shard of the logs has one of them. */
export function judgeRouters({ claims, routers }: ClaimSurvey, shards: number): readonly Finding[] {
  const up = [...routers.values()].flatMap(({ value }) => (value === null ? [] : [value.routerId]));
  if (up.length === 0) return [wrong('routers', 'no job router is there', 'start one with env/job-router.env')];
  const free = Array.from({ length: shards }, (_, shard) => shard).filter((shard) => {
    const owner = claims.get(shard)?.value.owner ?? null;
    return owner === null || !routers.has(owner.incarnation);
  });
  const there = well('routers', `there: ${someOf(up)}`);
  if (free.length === 0) return [there, well('routers', `all ${String(shards)} shards of the logs have an owner`)];
  return [
    there,
    wrong(
      'routers',
      `shards of the logs without an owner: ${someOf(free.map(String))}`,
      'wait a minute after a router left, then docs/runbooks/shards-without-owner.md',
    ),
  ];
}
