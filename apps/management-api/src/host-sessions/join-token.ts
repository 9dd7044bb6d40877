import type { HostId } from '@berth/domain';
import type { Random } from '@berth/lifecycle';
import { hashHostSecret } from './secret-hash.js';

const PREFIX = 'bjt';
const SECRET_LENGTH = 40;
const SHAPE = /^bjt_([a-z0-9]+)_[a-z0-9]+$/;

/** `bjt_<host id>_<secret>`: the token itself says which host may be joined with it. */
export const newJoinToken = (hostId: HostId, random: Random): string =>
  `${PREFIX}_${hostId}_${random.id(SECRET_LENGTH)}`;

/** Makes the tokens of hosts, each with the hash by which it is known again. */
export const makeJoinTokens =
  (random: Random) =>
  (hostId: HostId): { readonly token: string; readonly hash: string } => {
    const token = newJoinToken(hostId, random);
    return { token, hash: hashHostSecret(token) };
  };

/** The host that a token names; null when it is no token. */
export function hostOfJoinToken(token: string): HostId | null {
  const [, hostId] = SHAPE.exec(token) ?? [];
  return hostId === undefined ? null : (hostId as HostId);
}
