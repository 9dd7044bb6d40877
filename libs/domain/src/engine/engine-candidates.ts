import { parseEngineAddress, type EngineAddress } from './engine-address.js';

/** One place at which a container engine may answer. */
export interface EngineCandidate {
  readonly address: EngineAddress;
  /** The source of its address, for people: a setting, or a place where engines of a kind usually are. */
  readonly source: string;
  /** A setting names this very engine: when it does not answer, no other may take its place. */
  readonly isNamed: boolean;
}

export type EngineChoices =
  | { readonly kind: 'candidates'; readonly candidates: readonly EngineCandidate[] }
  | { readonly kind: 'unusable'; readonly setting: string; readonly detail: string };

type Settings = Readonly<Record<string, string | undefined>>;

const NAMING_SETTINGS = ['BERTH_DOCKER_SOCKET', 'DOCKER_HOST'] as const;

/**
 * Where to look for a container engine, best first. A setting that names one is the only candidate; without one the
 * usual sockets are, Docker's before Podman's and the system's before the user's.
 *
 * @param settings environment variables
 */
export function engineCandidates(settings: Settings): EngineChoices {
  for (const setting of NAMING_SETTINGS) {
    const text = settings[setting] ?? '';
    if (text === '') continue;
    const reading = parseEngineAddress(text, certFolderOf(settings));
    if (reading.kind === 'unusable') return { kind: 'unusable', setting, detail: reading.detail };
    return { kind: 'candidates', candidates: [{ address: reading.address, source: setting, isNamed: true }] };
  }
  const candidates = usualSockets(settings).map(([source, path]): EngineCandidate => {
    return { address: { kind: 'socket', path }, source, isNamed: false };
  });
  return { kind: 'candidates', candidates };
}

function usualSockets(settings: Settings): readonly (readonly [source: string, path: string])[] {
  const runtimeFolder = settings['XDG_RUNTIME_DIR'] ?? '';
  const ofUser = (source: string, path: string): readonly (readonly [string, string])[] =>
    runtimeFolder === '' ? [] : [[source, `${runtimeFolder}/${path}`]];
  return [
    ['Docker', '/var/run/docker.sock'],
    ...ofUser('rootless Docker', 'docker.sock'),
    ...ofUser('rootless Podman', 'podman/podman.sock'),
    ['Podman', '/run/podman/podman.sock'],
  ];
}

/** As for the engine's own client: any value of `DOCKER_TLS_VERIFY` turns TLS on. */
function certFolderOf(settings: Settings): string | null {
  if ((settings['DOCKER_TLS_VERIFY'] ?? '') === '') return null;
  const folder = settings['DOCKER_CERT_PATH'] ?? '';
  return folder === '' ? `${settings['HOME'] ?? ''}/.docker` : folder;
}
