import { createServer, type RequestListener, type Server } from 'node:http';
import type { LeavingConnections } from '../connections/leaving-connections.js';
import type { DispatchedRequests } from '../dispatch/dispatched-requests.js';

/** Longer than the idle time of the load balancers in front, so that they never send on a connection that we close. */
const KEEP_ALIVE_MS = 75_000;
/** The headers, and the first byte of a connection: slow senders of these have shown no key yet. */
const HEADERS_ARRIVE_WITHIN_MS = 10_000;
/** The largest body at the least rate, and some more; what comes more slowly is cut off before. */
const REQUEST_ARRIVES_WITHIN_MS = 1_500_000;
/** How often the two above are looked at. */
const ARRIVALS_LOOK_MS = 1_000;

/** Node's server with our limits: what is not handed on goes to the framework. */
export function createEdgeServer(
  { handedOn, leaving }: { readonly handedOn: DispatchedRequests; readonly leaving: LeavingConnections },
  answer: RequestListener,
): Server {
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      requestTimeout: REQUEST_ARRIVES_WITHIN_MS,
      headersTimeout: HEADERS_ARRIVE_WITHIN_MS,
      connectionsCheckingInterval: ARRIVALS_LOOK_MS,
      // Node would answer without a body.
      requireHostHeader: false,
      // An upgrade that nobody takes is a request like any other.
      shouldUpgradeCallback: (request) => handedOn.takesUpgrade(request),
    },
    (request, response) => {
      leaving.begin(request.socket, response);
      if (!handedOn.handOn(request, response)) answer(request, response);
    },
  );
  leaving.watch(server);
  handedOn.watchUpgrades(server);
  return server;
}
