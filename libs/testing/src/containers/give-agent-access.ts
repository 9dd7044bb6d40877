import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '@berth/servers';

/** Where workers run, as `deploy/kubernetes/agent.yaml` has it. */
export const WORKERS_NAMESPACE = 'berth-workers';

const ACCESS = join(import.meta.dirname, '../../../..', 'deploy/kubernetes/agent.yaml');

/** Makes namespaces and rights as an operator does, and writes an agent's `KUBECONFIG` with no more rights than those. */
export async function giveAgentAccess(cluster: Cluster, kubeconfig: string): Promise<void> {
  await cluster.kubectl('apply', '--filename', ACCESS);
  await cluster.kubectl('wait', '--for=create', 'serviceaccount/default', '-n', WORKERS_NAMESPACE, '--timeout=30s');
  const token = await cluster.kubectl('create', 'token', 'berth-agent', '-n', 'berth-agents', '--duration=1h');
  const config = JSON.parse(await cluster.kubectl('config', 'view', '--raw', '--output=json')) as {
    users: { user: unknown }[];
  };
  for (const each of config.users) each.user = { token: token.trim() };
  await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
}
