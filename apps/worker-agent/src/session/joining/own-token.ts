import { readFile } from 'node:fs/promises';
import { isNodeToken, readNodeToken } from '@berth/cluster-api';
import { hostOfNode, type HostId } from '@berth/domain';
import { StartupError } from '@berth/telemetry';

/** Where the operator says that the token is. */
export interface TokenPlace {
  readonly token: string | null;
  /** Read anew each time: a cluster replaces what is in it long before it is out of date. */
  readonly file: string | null;
}

const INVITATION = /^bjt_([A-Za-z0-9-]+)_[A-Za-z0-9]+$/;

/** Null where there is none. */
export async function readOwnToken({ file, token }: TokenPlace): Promise<string | null> {
  if (file === null) return token;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new StartupError(`BERTH_JOIN_TOKEN_FILE cannot be read: ${error.code ?? 'unknown error'}.`, { cause: error });
  });
  return text.trim() === '' ? null : text.trim();
}

/** The host that a token names: the invited one, or that of the node which the Pod of a cluster's token is on. */
export function hostOfToken(token: string): HostId {
  if (isNodeToken(token)) return hostOfOwnNode(token);
  const hostId = INVITATION.exec(token)?.[1];
  if (hostId === undefined) throw new StartupError('The join token is none: it looks like bjt_HOST_SECRET.');
  return hostId as HostId;
}

function hostOfOwnNode(token: string): HostId {
  const claims = readNodeToken(token);
  if (claims !== null) return hostOfNode({ uid: claims.nodeUid });
  throw new StartupError(
    'The token of this Pod names no node: it has to be of a projected volume, and the cluster Kubernetes 1.32 or newer.',
  );
}
