import { isRefusedByBroker, type ConnectionFailure } from '../../connections/index.js';
import { well, wrong, type Finding } from '../finding.js';
import { judgeFailure, type Target } from './judge-failure.js';
import { judgeCertificate } from './judge-shared.js';

/** What one broker does with those who come to it. */
export interface BrokerFacts {
  /** `host:port` */
  readonly address: string;
  /** Null: its address asks for no TLS. */
  readonly tls: { readonly certificateUntilMs: number | null } | ConnectionFailure | null;
  /** Whether it says something to whoever speaks no TLS. */
  readonly speaksInTheClear: boolean;
  /** Whether it lets somebody in who shows nothing. */
  readonly letsAnybodyIn: boolean;
  readonly login: { readonly version: string; readonly hasJetStream: boolean } | ConnectionFailure;
}

/** The first that syncs a replicated stream once per batch. */
const VERSION_MIN = [2, 15] as const;
const WRITE_CONF = 'use broker/broker-N.conf as this `berth init` writes it, and restart it';
const SETTING = 'BERTH_NATS_URL';

export function judgeBroker(facts: BrokerFacts, nowMs: number): readonly Finding[] {
  const what = `broker ${facts.address}`;
  const target = { area: 'brokers', what, setting: SETTING } as const;
  if (facts.tls !== null && 'message' in facts.tls) return [judgeFailure(target, facts.tls)];
  const until = facts.tls?.certificateUntilMs ?? null;
  return [
    ...judgeSecrecy(what, facts),
    ...('message' in facts.login ? [judgeLogin(target, facts.login)] : judgeServer(what, facts.login)),
    ...judgeCertificate(what, until, nowMs),
  ];
}

function judgeSecrecy(what: string, { letsAnybodyIn, speaksInTheClear, tls }: BrokerFacts): readonly Finding[] {
  const isInTheClear = tls === null || speaksInTheClear;
  return [
    isInTheClear
      ? wrong('brokers', `${what}: it speaks in the clear`, `${WRITE_CONF}; ${SETTING} begins with tls://`)
      : well('brokers', `${what}: TLS before the first word, silent in the clear`),
    letsAnybodyIn
      ? wrong('brokers', `${what}: it lets anybody in who shows no key`, WRITE_CONF)
      : well('brokers', `${what}: lets nobody in without a key`),
  ];
}

function judgeServer(
  what: string,
  { hasJetStream, version }: { readonly version: string; readonly hasJetStream: boolean },
): readonly Finding[] {
  const says = `${what}: nats-server ${version}`;
  return [
    isAtLeast(version, VERSION_MIN) ? well('brokers', says) : wrong('brokers', says, 'upgrade it to 2.15 or newer'),
    ...(hasJetStream ? [] : [wrong('brokers', `${what}: JetStream is off`, `${WRITE_CONF}: it has \`jetstream\``)]),
  ];
}

function judgeLogin(target: Target, failure: ConnectionFailure): Finding {
  if (!isRefusedByBroker(failure)) return judgeFailure(target, failure);
  return wrong(
    'brokers',
    `${target.what}: it does not know the key of the operator`,
    `BERTH_NATS_SEED must be that of env/operator.env; ${WRITE_CONF}`,
  );
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}
