export { composeLoadBalancer } from './compose-load-balancer.js';
export type { LoadBalancerDirectory } from './directory.port.js';
export { NatsCountPeers } from './counts/nats-count-peers.js';
export { RequestTotals } from './counts/request-totals.js';
