export { composeLoadBalancer } from './compose-load-balancer.js';
export type { LoadBalancerDirectory } from './directory.port.js';
export { Places } from './places/places.js';
