import type { FastifyRequest } from 'fastify';

/** Whose doing an answer is that is no good one; `none`: it is a good one. */
type RequestFault = 'none' | 'caller' | 'worker' | 'platform';

const [REFUSED, FAILED] = [400, 500];

const ofWorkers = new WeakSet<FastifyRequest>();

/** The failure that this request is answered with was a worker's, and is passed on: it counts as no error of ours. */
export const blameWorker = (request: FastifyRequest): void => {
  ofWorkers.add(request);
};

export function faultOf(request: FastifyRequest, status: number): RequestFault {
  if (status < REFUSED) return 'none';
  if (status < FAILED) return 'caller';
  return ofWorkers.has(request) ? 'worker' : 'platform';
}
