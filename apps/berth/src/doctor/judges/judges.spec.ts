import { UNKNOWN_ROUTER, type RouterPresence } from '@berth/domain';
import type { StreamReport } from '@berth/messaging';
import { describe, expect, test } from '@jest/globals';
import type { HostAnswer } from '../../hosts/index.js';
import type { Finding } from '../finding.js';
import { judgeBroker, type BrokerFacts } from './judge-broker.js';
import { judgeDatabase, judgeDatabaseFailure, type DatabaseFacts } from './judge-database.js';
import { judgeFailure } from './judge-failure.js';
import { judgeEndpoints, judgeHosts } from './judge-fleet.js';
import { judgeOperations, judgePublic } from './judge-processes.js';
import { judgeCertificate, judgeClock } from './judge-shared.js';
import { judgeRouters, judgeStreams } from './judge-streams.js';

const DAY_MS = 24 * 60 * 60_000;
const NOW_MS = 1_000 * DAY_MS;
const MONTHS_MS = NOW_MS + 90 * DAY_MS;

/** Of everything that is not well: what is said, and what mends it. */
const wrongs = (findings: readonly Finding[]): readonly string[] =>
  findings.filter(({ state }) => state === 'wrong').map(({ mend, says }) => `${says} -> ${mend ?? ''}`);

describe('a database', () => {
  const GOOD: DatabaseFacts = {
    isEncrypted: true,
    version: 180_006,
    migrations: ['One1', 'Two2'],
    forbiddenTables: [],
    connections: { used: 20, max: 97 },
    sizeBytes: 1,
    clockOffsetMs: 20,
    certificateUntilMs: MONTHS_MS,
    sealingKeys: new Map([['aaaaaaaa', 3]]),
  };
  const told = (facts: Partial<DatabaseFacts>) =>
    wrongs(judgeDatabase({ ...GOOD, ...facts }, ['One1', 'Two2'], NOW_MS));

  test('that is as it should be has nothing wrong', () => {
    expect(told({})).toEqual([]);
  });

  test.each<[string, Partial<DatabaseFacts>, RegExp]>([
    ['speaks in the clear', { isEncrypted: false }, /no TLS -> ssl = on/],
    ['is too old', { version: 170_004 }, /PostgreSQL 17\.4 -> .*upgrade/],
    ['was never migrated', { migrations: null }, /no tables of ours -> run the migration/],
    ['is behind', { migrations: ['One1'] }, /behind this program: Two2 did not run -> run the migration/],
    ['is ahead', { migrations: ['One1', 'Two2', 'Three3'] }, /ahead of this program: Three3 -> use the `berth`/],
    ['is closed to its user', { forbiddenTables: ['hosts'] }, /not read and write hosts -> /],
    ['has no connections left', { connections: { used: 90, max: 97 } }, /90 of 97 .* max_connections/],
    ['has another time', { clockOffsetMs: -8_000 }, /8 s behind this machine -> /],
    ['shows an old certificate', { certificateUntilMs: NOW_MS + 3 * DAY_MS }, /3 days left -> .*--renew-certificates/],
  ])('that %s is told of alone', (_, facts, sentence) => {
    expect(told(facts)).toEqual([expect.stringMatching(sentence)]);
  });

  test.each([
    [new Map(), /one key \(there are none\)/],
    [new Map([['aaaaaaaa', 3]]), /one key \(aaaaaaaa: 3\)/],
    [new Map([['aaaaaaaa', 3], ['bbbbbbbb', 1]]), /2 keys \(aaaaaaaa: 3, bbbbbbbb: 1\): too early/], // prettier-ignore
    [null, /with how many keys/],
  ])('says with which keys its secrets are sealed: %#', (sealingKeys, sentence) => {
    const findings = judgeDatabase({ ...GOOD, sealingKeys }, ['One1', 'Two2'], NOW_MS);
    expect(findings).toContainEqual(expect.objectContaining({ says: expect.stringMatching(sentence) }));
    expect(wrongs(findings)).toEqual([]);
  });

  test.each([
    [{ code: '28P01', message: 'password authentication failed' }, /refuses the password -> BERTH_DATABASE_URL/],
    [{ code: null, message: 'The server does not support SSL connections' }, /no TLS/],
    [{ code: 'ECONNREFUSED', message: 'refused' }, /nobody listens there -> start it, or set BERTH_DATABASE_URL/],
  ])('that is not reached is told of by %j', (failure, sentence) => {
    expect(wrongs(judgeDatabaseFailure(failure))).toEqual([expect.stringMatching(sentence)]);
  });
});

describe('a broker', () => {
  const GOOD: BrokerFacts = {
    address: 'nats-1:4222',
    tls: { certificateUntilMs: MONTHS_MS },
    speaksInTheClear: false,
    letsAnybodyIn: false,
    login: { version: '2.15.0', hasJetStream: true },
  };
  const told = (facts: Partial<BrokerFacts>) => wrongs(judgeBroker({ ...GOOD, ...facts }, NOW_MS));

  test.each(['2.15.0', '2.15.0-RC.1', '2.16.1', '3.0.0'])(
    'of %s that is as it should be has nothing wrong',
    (version) => {
      expect(told({ login: { version, hasJetStream: true } })).toEqual([]);
    },
  );

  test.each<[string, Partial<BrokerFacts>, RegExp]>([
    ['is to be spoken to in the clear', { tls: null }, /speaks in the clear -> .*tls:\/\//],
    ['greets in the clear', { speaksInTheClear: true }, /speaks in the clear/],
    ['lets anybody in', { letsAnybodyIn: true }, /lets anybody in/],
    ['is too old', { login: { version: '2.9.25', hasJetStream: true } }, /2\.9\.25 -> upgrade/],
    ['has no streams', { login: { version: '2.15.0', hasJetStream: false } }, /JetStream is off/],
    ['knows other keys', { login: { code: null, message: "'Authorization Violation'" } }, /key of the operator/],
    ['is not up', { tls: { code: 'ECONNREFUSED', message: 'no' } }, /nats-1:4222: nobody listens there/],
  ])('that %s is told of alone', (_, facts, sentence) => {
    expect(told(facts)).toEqual([expect.stringMatching(sentence)]);
  });
});

describe('the streams', () => {
  const TERMS = { replicas: 3, storageBytes: 1_024 ** 3 };
  const PEERS = ['broker-2', 'broker-3'].map((name) => ({ name, isCurrent: true, isOffline: false }));
  const GOOD = { kind: 'found', replicas: 3, hasLeader: true, peers: PEERS, bytes: 10, maxBytes: 1_000 } as const;
  const report = (state: StreamReport['state'], diskBytes = 10) => ({
    ...{ diskBytes, diskMaxBytes: null },
    streams: ['LOG_0', 'LOG_1'].map((name) => ({ name, isOnDisk: true, state: name === 'LOG_0' ? GOOD : state })),
  });

  test.each<[string, StreamReport['state'], RegExp]>([
    ['is missing', { kind: 'missing' }, /^LOG_1: missing -> /],
    ['does not answer', { kind: 'unanswered', reason: 'timeout' }, /^LOG_1: without an answer/],
    ['is refused', { kind: 'refused', reason: 'no' }, /^LOG_1: not told of to this role -> BERTH_NATS_SEED/],
    ['has no leader', { ...GOOD, hasLeader: false }, /^LOG_1: without a leader/],
    ['has one copy', { ...GOOD, replicas: 1, peers: [] }, /^LOG_1: with another number of copies/],
    [
      'has a copy that is away',
      { ...GOOD, peers: [{ name: 'broker-2', isCurrent: false, isOffline: true }, ...PEERS.slice(1)] },
      /^LOG_1: with a copy that is away or behind \(broker-2\)/,
    ],
    ['is nearly full', { ...GOOD, bytes: 800 }, /^LOG_1: filled by 80 % and more -> .*store-filling/],
  ])('of which one %s are told of alone', (_, state, sentence) => {
    expect(wrongs(judgeStreams(report(state), TERMS))).toEqual([expect.stringMatching(sentence)]);
  });

  test('may not fill the disk', () => {
    expect(wrongs(judgeStreams(report(GOOD), TERMS))).toEqual([]);
    expect(wrongs(judgeStreams(report(GOOD, TERMS.storageBytes * 0.9), TERMS))).toEqual([
      expect.stringMatching(/^0\.90 of 1\.00 GiB/),
    ]);
  });
});

describe('the job routers', () => {
  const ROUTER: RouterPresence = { routerId: 'router-1', incarnation: 'i1', reads: 1 };
  const there = new Map([['i1', { value: ROUTER, revision: 1 }]]);
  const claimsOf = (...owners: readonly (RouterPresence | null)[]) =>
    new Map(owners.map((owner, shard) => [shard, { value: { owner, term: 1 }, revision: 1 }]));

  test('own every shard', () => {
    expect(wrongs(judgeRouters({ routers: there, claims: claimsOf(ROUTER, ROUTER) }, 2))).toEqual([]);
  });

  test('are missed where there is none', () => {
    expect(wrongs(judgeRouters({ routers: new Map(), claims: claimsOf(ROUTER) }, 1))).toEqual([
      expect.stringMatching(/no job router is there -> start one/),
    ]);
  });

  test('leave a shard that nobody claims, that is given up, or whose owner is gone', () => {
    const claims = claimsOf(ROUTER, null, { ...ROUTER, incarnation: 'gone' }, UNKNOWN_ROUTER);
    expect(wrongs(judgeRouters({ routers: there, claims }, 5))).toEqual([
      expect.stringMatching(/without an owner: 1, 2, 3, 4 -> /),
    ]);
  });
});

describe('a process', () => {
  const READY = { status: 'ready', down: [], degraded: [] };
  const build = { process: 'job-router', version: '1.2.0' };

  test('of this version that is ready has nothing wrong', () => {
    expect(wrongs(judgeOperations({ url: 'http://r', readiness: READY, build }, '1.2.0'))).toEqual([]);
  });

  test('of another version, or that lacks something, is told of', () => {
    const readiness = { status: 'not-ready', down: ['nats: closed'], degraded: [] };
    expect(wrongs(judgeOperations({ url: 'http://r', readiness, build }, '1.3.0'))).toEqual([
      expect.stringMatching(/job-router \(http:\/\/r\): not-ready: nats: closed/),
      expect.stringMatching(/version 1\.2\.0, and this program is 1\.3\.0 -> bring both to one version/),
    ]);
  });

  test('behind an address that fails is told of by its setting', () => {
    const target = { what: 'job API', setting: 'BERTH_RUN_URL', url: 'https://run' } as const;
    const facts = { status: 401, clockOffsetMs: 100, certificateUntilMs: MONTHS_MS };
    expect(wrongs(judgePublic(target, facts, NOW_MS))).toEqual([]);
    expect(wrongs(judgePublic(target, { ...facts, status: 502 }, NOW_MS))).toEqual([
      expect.stringMatching(/https:\/\/run answers 502 -> .*BERTH_RUN_URL/),
    ]);
  });
});

describe('hosts', () => {
  const HOST: HostAnswer = {
    ...{ id: 'h1', name: 'gpu-1', dataCenterId: 'LOCAL-1', state: 'ready', isOnline: true, suspectBecause: null },
    ...{ inventory: null, lastSeenAt: '2026-01-01T00:00:00.000Z' },
  };
  const VERSION = '0.2.0';
  const told = (hosts: readonly HostAnswer[]) => wrongs(judgeHosts(hosts, VERSION));

  test('that are there have nothing wrong, nor have those that are to be away or have not joined', () => {
    const away = { ...HOST, isOnline: false };
    expect(told([HOST, { ...away, state: 'draining' }, { ...away, lastSeenAt: null }])).toEqual([]);
  });

  test('are named by the versions of their agents, where these are not that of this program', () => {
    const of = (id: string, agentVersion?: string): HostAnswer => ({
      ...HOST,
      id,
      inventory: {
        vcpus: 1,
        memoryBytes: 1,
        gpus: [],
        runtime: 'docker',
        ...(agentVersion !== undefined && { agentVersion }),
      },
    });
    const hosts = [of('h1', '0.1.0'), of('h2', '0.2.0'), of('h3', '0.1.0'), of('h4')];
    expect(told(hosts)).toEqual([
      expect.stringMatching(
        /gpu-1 \(h1\), gpu-1 \(h3\): agent of version 0\.1\.0, and this program is 0\.2\.0 -> replace/,
      ),
      expect.stringMatching(/gpu-1 \(h4\): no version is told -> replace the management API/),
    ]);
    expect(judgeHosts(hosts, VERSION)).toContainEqual(expect.objectContaining({ says: 'agents of version 0.2.0: 1' }));
    expect(told([{ ...of('h5', '0.1.0'), isOnline: false }])).not.toContainEqual(expect.stringContaining('0.1.0'));
  });

  test('are missed where none is online, and where one is away or suspect', () => {
    expect(told([])).toEqual([expect.stringMatching(/no host is online.* -> .*`berth host join NAME`/)]);
    const suspect = { ...HOST, suspectBecause: 'starts fail' };
    expect(told([suspect, { ...HOST, isOnline: false }])).toEqual([
      expect.stringMatching(/gpu-1 \(h1\) is suspect: starts fail -> /),
      expect.stringMatching(/gpu-1 \(h1\) is away since 2026/),
    ]);
  });

  test('are told of up to a bound', () => {
    const many = Array.from({ length: 30 }, (_, at) => ({ ...HOST, id: `h${String(at)}`, suspectBecause: 'why' }));
    expect(told(many)).toHaveLength(11);
    expect(told(many).at(-1)).toMatch(/^and 20 more like these/);
  });
});

test('an endpoint whose workers have no place is told of with the reason', () => {
  const endpoints = [
    { id: 'e1', name: 'good', waitsBecause: null },
    { id: 'e2', name: 'big', waitsBecause: 'no host has 8 GPUs' },
  ];
  expect(wrongs(judgeEndpoints(endpoints, 2))).toEqual([
    expect.stringMatching(/big \(e2\) has no place for a worker: no host has 8 GPUs -> .*workers-unplaced/),
  ]);
  expect(judgeEndpoints(endpoints.slice(0, 1), 300)[0]?.says).toMatch(/the other 299 were not looked at$/);
});

test.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', /authority that is not believed.* -> NODE_EXTRA_CA_CERTS/],
  ['CERT_HAS_EXPIRED', /certificate is over -> .*--renew-certificates/],
  ['CERT_NOT_YET_VALID', /not good yet -> set the clocks/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /for other names -> BERTH_RUN_URL/],
  ['ENOTFOUND', /name is not known -> .*BERTH_RUN_URL/],
  ['ETIMEDOUT', /cannot be reached -> .*firewall/],
])('a connection that fails by %s is told of with what mends it', (code, sentence) => {
  const finding = judgeFailure({ area: 'processes', what: 'it', setting: 'BERTH_RUN_URL' }, { code, message: 'm' });
  expect(wrongs([finding])).toEqual([expect.stringMatching(sentence)]);
});

test.each([
  [5_000, 'well'],
  [-5_000, 'well'],
  [5_001, 'wrong'],
  [-5_001, 'wrong'],
])('a clock that is %d ms ahead is %s', (offsetMs, state) => {
  expect(judgeClock('the clock', offsetMs).state).toBe(state);
});

test.each([
  [30, ['well']],
  [29, ['wrong']],
  [-1, ['wrong']],
])('a certificate with %d days left is %j', (days, states) => {
  expect(judgeCertificate('it', NOW_MS + days * DAY_MS, NOW_MS).map(({ state }) => state)).toEqual(states);
});
