import { hostOfNode, isHostOfNode, type HostId } from '@berth/domain';
import { RuntimeError } from '../../runtime-error.js';
import { askApiUnless } from '../api/cluster-errors.js';
import type { NodeRoom } from './node-room.js';

/** The node as this agent found it when it began. */
export interface OwnNode {
  readonly nodeName: string;
  readonly nodeUid: string;
  readonly hostId: HostId;
}

/**
 * The node's room, where something may be started there. All that refuses it is told as want of room: it says nothing of
 * what was to be started, and must not count against its release.
 *
 * @throws RuntimeError `no-room` where the node is cordoned, gone, or not the one that it was, `runtime-unavailable`
 */
export async function openNode(look: () => Promise<NodeRoom>, own: OwnNode): Promise<NodeRoom> {
  const room = await askApiUnless([404], 'The node cannot be seen', look);
  if (room === undefined) throw new RuntimeError('no-room', `The node ${own.nodeName} is gone from its cluster.`);
  const why = closedBecause(room, own);
  if (why !== null) throw new RuntimeError('no-room', `The node ${own.nodeName} ${why}`);
  return room;
}

function closedBecause({ isCordoned, nodeUid }: NodeRoom, own: OwnNode): string | null {
  // A Pod belongs to the node by its uid: of one that is no more the cluster takes it away at once.
  const isAnother = nodeUid !== own.nodeUid || isOfAnother(own.hostId, nodeUid);
  if (isAnother) return "was made anew in its cluster: its agent has to be, too (delete the agent's Pod).";
  // No scheduler looks after Pods that are bound by name, and a drain waits only for those that it found.
  return isCordoned ? 'is cordoned.' : null;
}

/** Also where only the agent's process has begun again since: its identity is that of its Pod. */
const isOfAnother = (hostId: HostId, uid: string): boolean => isHostOfNode(hostId) && hostOfNode({ uid }) !== hostId;
