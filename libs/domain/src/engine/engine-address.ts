import { PORT_MAX } from '../units/index.js';

/** Where a container engine answers. */
export type EngineAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | {
      readonly kind: 'tcp';
      readonly host: string;
      readonly port: number;
      /** Folder with `ca.pem`, `cert.pem` and `key.pem`; null without TLS. */
      readonly certFolder: string | null;
    };

export type EngineReading =
  | { readonly kind: 'address'; readonly address: EngineAddress }
  | { readonly kind: 'unusable'; readonly detail: string };

const PLAIN_PORT = 2_375;
const TLS_PORT = 2_376;
const SOCKET = /^(?:unix:\/\/)?(?<path>\/.+)$/;
const NETWORK = /^(?<scheme>tcp|http|https):\/\/(?<host>\[[0-9a-fA-F:]+\]|[^/:@\s]+)?(?::(?<port>\d{1,5}))?\/?$/;

/**
 * Reads an address as the engine's own client does (`DOCKER_HOST`), or the plain path of a socket.
 *
 * @param certFolder where the certificates lie when TLS is wanted; null when it is not
 */
export function parseEngineAddress(text: string, certFolder: string | null): EngineReading {
  const path = SOCKET.exec(text)?.groups?.['path'];
  if (path !== undefined) return { kind: 'address', address: { kind: 'socket', path } };
  const parts = NETWORK.exec(text)?.groups;
  if (parts === undefined) {
    return { kind: 'unusable', detail: `"${text}" is neither a socket (unix:///…) nor a network address (tcp://…)` };
  }
  return readNetwork(text, parts, certFolder);
}

function readNetwork(
  text: string,
  { scheme, host = '127.0.0.1', port: portText }: Readonly<Record<string, string | undefined>>,
  certFolder: string | null,
): EngineReading {
  if (scheme === 'https' && certFolder === null) {
    return { kind: 'unusable', detail: `"${text}" needs DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH` };
  }
  const port = Number(portText ?? (certFolder === null ? PLAIN_PORT : TLS_PORT));
  if (port < 1 || port > PORT_MAX) return { kind: 'unusable', detail: `"${text}" has no usable port` };
  return { kind: 'address', address: { kind: 'tcp', host: host.replace(/^\[|\]$/g, ''), port, certFolder } };
}

/** The address as `DOCKER_HOST` names it. */
export function formatEngineAddress(address: EngineAddress): string {
  if (address.kind === 'socket') return `unix://${address.path}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `tcp://${host}:${String(address.port)}`;
}
