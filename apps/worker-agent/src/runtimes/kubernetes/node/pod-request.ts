import type { ContainerObject, PodObject } from '../api/kube-objects.js';
import { parseQuantity } from './quantities.js';

/** What a node has promised to a Pod, as its kubelet counts it. */
export function podRequest({ spec }: PodObject, resource: string): number {
  const { containers = [], initContainers = [], overhead = {} } = spec ?? {};
  let beside = 0;
  let startingMax = 0;
  for (const each of initContainers) {
    const wanted = requestOf(each, resource);
    if (each.restartPolicy === 'Always') beside += wanted;
    startingMax = Math.max(startingMax, beside + (each.restartPolicy === 'Always' ? 0 : wanted));
  }
  const running = containers.reduce((sum, each) => sum + requestOf(each, resource), beside);
  return Math.max(startingMax, running) + parseQuantity(overhead[resource]);
}

const requestOf = ({ resources }: ContainerObject, resource: string): number =>
  parseQuantity(resources?.requests?.[resource] ?? resources?.limits?.[resource]);
