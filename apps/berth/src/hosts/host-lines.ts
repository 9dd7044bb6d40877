import { cleanText } from '@berth/domain';
import type { HostAnswer, HostDetail, JoinToken } from './host-answers.js';

const CELL_MAX = 200;
const GIB = 1_024 ** 3;
const LOOPBACK = /\/\/(127\.|localhost[:,]|\[::1\])/;

/** What the new machine's agent is started with. */
export const agentVariables = (token: JoinToken, natsUrl: string | null): Readonly<Record<string, string>> => ({
  ...(natsUrl !== null && { BERTH_NATS_URL: natsUrl }),
  BERTH_JOIN_TOKEN: token.token,
});

/** What to do on the new machine. */
export function joinLines(token: JoinToken, natsUrl: string | null): readonly string[] {
  const isSecure = natsUrl?.startsWith('tls:') === true;
  const variables = Object.entries({
    ...(natsUrl === null && { BERTH_NATS_URL: 'ADDRESS_OF_THE_BROKERS' }),
    ...agentVariables(token, natsUrl),
    ...(isSecure && { NODE_EXTRA_CA_CERTS: 'PATH_OF_CA_CRT' }),
  });
  return [
    `Host ${token.hostId} may join once, until ${token.expiresAt}. The token is shown this once.`,
    '',
    'Start the agent on the new machine, by image as in deploy/docker/README.md, “The agent”, with these as `-e`, or built:',
    '',
    ...variables.map(([name, value]) => `  ${name}=${value} \\`),
    '  node_modules/.bin/node apps/worker-agent/dist/main.js',
    '',
    ...(natsUrl === null ? ['BERTH_NATS_URL is in env/worker-agent.env of the installation.'] : []),
    ...(natsUrl !== null && LOOPBACK.test(natsUrl)
      ? ['These addresses reach this machine only: another needs those of deploy/compose/README.md, “Further hosts”.']
      : []),
    ...(isSecure ? ['Copy tls/ca.crt of the installation there, and name its path.'] : []),
    `It has joined when \`berth host show ${token.hostId}\` says online.`,
  ];
}

/** One line for each host below a heading. */
export function listLines(hosts: readonly HostAnswer[]): readonly string[] {
  if (hosts.length === 0) return ['There is no host. `berth host join NAME` makes a token for one.'];
  return tableOf([
    ['ID', 'NAME', 'DATA CENTER', 'STATE', 'SEEN', 'VERSION', 'GPUS'],
    ...hosts.map((host) => [
      host.id,
      host.name,
      host.dataCenterId,
      wordOfState(host),
      host.lastSeenAt ?? 'never',
      versionOf(host),
      gpusOf(host),
    ]),
  ]);
}

/** A host with what it has and which workers it runs. */
export function detailLines(host: HostDetail): readonly string[] {
  const { inventory, suspectBecause, workers } = host;
  return [
    ...tableOf([
      ['id', host.id],
      ['name', host.name],
      ['data center', host.dataCenterId],
      ['state', wordOfState(host)],
      ['seen', host.lastSeenAt ?? 'never'],
      ...(suspectBecause === null ? [] : [['suspect', suspectBecause]]),
      ['version', versionOf(host)],
      ['GPUs', gpusOf(host)],
      ...(inventory === null ? [] : [['vCPU', String(inventory.vcpus)]]),
      ...(inventory === null ? [] : [['memory', `${(inventory.memoryBytes / GIB).toFixed(1)} GiB`]]),
      ...(inventory === null ? [] : [['runtime', inventory.runtime]]),
      ['workers', String(workers.length)],
    ]),
    ...tableOf(workers.map(({ endpointId, id, reason, status }) => [`  ${id}`, endpointId, status, reason])),
  ];
}

/** What was asked for, and whether it is there. */
export const wordOfState = ({ isOnline, state, suspectBecause }: HostAnswer): string =>
  [state, isOnline ? 'online' : 'offline', ...(suspectBecause === null ? [] : ['suspect'])].join(', ');

const versionOf = ({ inventory }: HostAnswer): string => inventory?.agentVersion ?? 'not told';

function gpusOf({ inventory }: HostAnswer): string {
  if (inventory === null) return 'not joined yet';
  const counts = new Map<string, number>();
  for (const { typeId } of inventory.gpus) counts.set(typeId, (counts.get(typeId) ?? 0) + 1);
  if (counts.size === 0) return 'none';
  return [...counts].map(([typeId, count]) => `${count} x ${typeId}`).join(', ');
}

/** Columns as wide as their widest cell, the last one as it is. */
function tableOf(rows: readonly (readonly string[])[]): readonly string[] {
  const cells = rows.map((row) =>
    row.map((cell, at) => `${at === 0 ? indentOf(cell) : ''}${cleanText(cell, CELL_MAX)}`),
  );
  const widths = (cells[0] ?? []).map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const indentOf = (cell: string): string => /^ */.exec(cell)?.[0] ?? '';
