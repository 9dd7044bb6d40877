import { isIP } from 'node:net';
import { callerNetwork } from '@berth/domain';
import type { FastifyRequest } from 'fastify';

/** Where a caller is whose connection was gone before anybody looked. */
const NOWHERE = 'nowhere';

/** The network of the caller: of the connection, or as the trusted proxies in front of us have it. */
export const networkOf = ({ ip, raw }: FastifyRequest): string =>
  isIP(ip) === 0 ? socketNetwork(raw.socket.remoteAddress) : callerNetwork(ip);

/** @param address as a socket has it */
export const socketNetwork = (address: string | undefined): string =>
  address === undefined ? NOWHERE : callerNetwork(address);
