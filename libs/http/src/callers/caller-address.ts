import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { callerNetwork } from '@berth/domain';
import type { FastifyRequest } from 'fastify';
import { plainAddress } from './plain-address.js';
import type { TrustedProxies } from './trusted-proxies.js';

/** Where a caller is whose connection was gone before anybody looked. */
const NOWHERE = 'nowhere';

/** The network of the caller: of the connection, or as the trusted proxies in front of us have it. */
export const networkOf = ({ ip, raw }: FastifyRequest): string =>
  isIP(ip) === 0 ? socketNetwork(raw.socket.remoteAddress) : callerNetwork(ip);

/** @param address as a socket has it */
export const socketNetwork = (address: string | undefined): string =>
  address === undefined ? NOWHERE : callerNetwork(address);

/** The address of the connection; absent where that was gone before anybody looked. */
export const peerAddress = ({ socket }: Pick<IncomingMessage, 'socket'>): string | undefined =>
  socket.remoteAddress === undefined ? undefined : plainAddress(socket.remoteAddress);

/**
 * The address of the caller of a request that the framework never sees, found as the framework finds it: the nearest one
 * that is no trusted proxy's.
 */
export function addressBehind(request: IncomingMessage, proxies: TrustedProxies): string | undefined {
  const told = [request.headers['x-forwarded-for'] ?? []].flat().flatMap((value) => value.split(','));
  let address = peerAddress(request);
  for (const next of told.reverse().map((each) => plainAddress(each.trim()))) {
    if (address === undefined || isIP(next) === 0 || !proxies.has(address)) return address;
    address = next;
  }
  return address;
}
