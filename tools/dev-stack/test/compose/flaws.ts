import type { Inspected } from './composed-stack.js';

/** The user of every image of ours, and of what stands in for PostgreSQL's. */
const IMAGE_USER = '10001:10001';
const ONE_SHOT = '/berth-migrate-1';
export const AGENT = '/berth-worker-agent-1';

/** What a container of the file lacks of what each has to have; the agent runs as root, because it sets the firewall. */
export function flawsOf({ Config, HostConfig, Name, State }: Inspected): readonly string[] {
  const isOurs = Config.Labels['org.opencontainers.image.title'] !== undefined;
  const bindings = Object.values(HostConfig.PortBindings ?? {}).flat();
  const rules: Readonly<Record<string, boolean>> = {
    state: Name === ONE_SHOT ? State.Status === 'exited' : State.Health?.Status === 'healthy',
    user: Config.User === (Name === AGENT ? '0:0' : IMAGE_USER),
    'read-only root': HostConfig.ReadonlyRootfs,
    'no capabilities': HostConfig.CapDrop?.includes('ALL') === true,
    'no new privileges': HostConfig.SecurityOpt?.includes('no-new-privileges:true') === true,
    limits: HostConfig.Memory > 0 && HostConfig.NanoCpus > 0 && (HostConfig.PidsLimit ?? 0) > 0,
    restart: HostConfig.RestartPolicy.Name !== 'no',
    loopback: bindings.every(({ HostIp }) => HostIp === '127.0.0.1'),
    version: !isOurs || /^\d+\.\d+\.\d+$/.test(Config.Labels['org.opencontainers.image.version'] ?? ''),
    licence: !isOurs || Config.Labels['org.opencontainers.image.licenses'] === 'Apache-2.0',
  };
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]));
}
