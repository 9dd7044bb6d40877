import type { HostAnswer } from '../../hosts/index.js';
import { someOf, well, wrong, type Finding } from '../finding.js';

const TOLD_MAX = 10;

/** One line for each host that is not as it should be, and for each other version. Those that are to be away may be. */
export function judgeHosts(hosts: readonly HostAnswer[], ownVersion: string): readonly Finding[] {
  const online = hosts.filter(({ isOnline }) => isOnline);
  const suspects = online.filter(({ suspectBecause }) => suspectBecause !== null);
  const away = hosts.filter(({ isOnline, lastSeenAt, state }) => !isOnline && lastSeenAt !== null && state === 'ready');
  const count = `${String(online.length)} of ${String(hosts.length)} online`;
  return [
    online.length > 0
      ? well('hosts', count)
      : wrong(
          'hosts',
          `no host is online, so no job runs`,
          'start the agents, or `berth host join NAME` for a first one',
        ),
    ...bounded(suspects, ({ id, name, suspectBecause }) =>
      wrong('hosts', `${name} (${id}) is suspect: ${suspectBecause ?? ''}`, 'docs/runbooks/host-suspect.md'),
    ),
    ...bounded(away, ({ id, lastSeenAt, name }) =>
      wrong(
        'hosts',
        `${name} (${id}) is away since ${lastSeenAt ?? ''}`,
        `start its agent, or \`berth host remove ${id}\` if it is gone for good`,
      ),
    ),
    ...judgeVersions(online, ownVersion),
  ];
}

/** By the version that their agents tell; those that tell none are together. */
function judgeVersions(hosts: readonly HostAnswer[], ownVersion: string): readonly Finding[] {
  const joined = hosts.filter(({ inventory }) => inventory !== null);
  const byVersion = Map.groupBy(joined, ({ inventory }) => inventory?.agentVersion);
  const findings = [...byVersion].map(([version, those]): Finding => {
    const names = someOf(those.map(({ id, name }) => `${name} (${id})`));
    if (version === ownVersion) return well('hosts', `agents of version ${version}: ${String(those.length)}`);
    if (version === undefined) return wrong('hosts', `${names}: no version is told`, UNTOLD);
    return wrong('hosts', `${names}: agent of version ${version}, and this program is ${ownVersion}`, SKEW);
  });
  return bounded(findings, (finding) => finding);
}

const SKEW =
  'replace these agents; one version beside the next works, more of them do not (docs/production.md, “Upgrade”)';
const UNTOLD = 'replace the management API, then these agents: one of them is older than this program';

/** An endpoint of the key's account, with why a worker of it waits; null: none does. */
export interface EndpointPlace {
  readonly id: string;
  readonly name: string;
  readonly waitsBecause: string | null;
}

/** @param total of which some may not have been looked at */
export function judgeEndpoints(endpoints: readonly EndpointPlace[], total: number): readonly Finding[] {
  const waiting = endpoints.filter(({ waitsBecause }) => waitsBecause !== null);
  const rest = total === endpoints.length ? '' : `; the other ${String(total - endpoints.length)} were not looked at`;
  if (waiting.length === 0)
    return [well('endpoints', `each of ${String(endpoints.length)} has a place for its workers${rest}`)];
  return bounded(waiting, ({ id, name, waitsBecause }) =>
    wrong(
      'endpoints',
      `${name} (${id}) has no place for a worker: ${waitsBecause ?? ''}`,
      'docs/runbooks/workers-unplaced.md',
    ),
  );
}

function bounded<Item>(items: readonly Item[], tell: (item: Item) => Finding): readonly Finding[] {
  const told = items.slice(0, TOLD_MAX).map(tell);
  const [last] = told.slice(-1);
  if (items.length <= TOLD_MAX || last === undefined) return told;
  return [...told, { ...last, says: `and ${String(items.length - TOLD_MAX)} more like these` }];
}
