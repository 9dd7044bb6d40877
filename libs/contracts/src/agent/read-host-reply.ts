import type { ContainerSpec, EndpointId, WorkerId, WorkerResources } from '@berth/domain';
import {
  amount,
  count,
  id,
  listOf,
  mapOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  readAs,
  readShape,
  text,
  unreadable,
  type Reading,
} from '@berth/domain/shape';
import {
  type CatalogedGpu,
  DELETED_VOLUMES_MAX,
  IMAGES_AHEAD_MAX,
  RESUMED_IDS_MAX,
  type DesiredWorker,
  type DroppedEntries,
  type DroppedEntry,
  type HostReply,
  type HostVolume,
  type JoinReply,
  type RegistryCredentials,
  type WakeMessage,
  type WantedImage,
  type WorkerVolume,
} from './host-messages.js';

import { SPOOLED_ENDPOINTS_MAX } from './log-messages.js';

/** More workers than any host has; the management API reads as many of a report. */
const DESIRED_WORKERS_MAX = 4_096;
/** Of one text, or one list, in an entry: the broker takes no message that is larger. */
const ENTRY_CHARACTERS_MAX = 1_048_576;
const ITEMS_MAX = 65_536;
const EXAMPLES_MAX = 8;

/** What can be made of a reply. */
export interface ReadHostReply extends HostReply {
  /** Workers whose entries cannot be read: what the host has of them goes on, and nothing is started. */
  readonly heldIds: readonly WorkerId[];
  /** False when an entry does not even say whose it is: then nobody is unwanted because it is not named. */
  readonly isComplete: boolean;
  /** The first faults, for people; without what stood there. */
  readonly faults: readonly string[];
}

const words = text(ENTRY_CHARACTERS_MAX);

const container = objectOf<ContainerSpec>({
  image: words,
  args: words,
  diskGb: orNull(amount()),
  env: mapOf(words, ITEMS_MAX),
  ports: listOf(words, ITEMS_MAX),
  registryId: orNull(words),
});

const resources = objectOf<WorkerResources>({
  vcpus: amount(),
  memoryBytes: amount(),
  diskBytes: amount(),
  gpuTypeId: orNull(words),
  gpuCount: count,
});

const desiredWorker = objectOf<DesiredWorker>({
  workerId: id,
  endpointId: id,
  accountId: optional(id),
  release: count,
  intent: oneOf(['running', 'paused', 'drained']),
  container,
  imageDigest: optional(text()),
  registryCredentials: optional(objectOf<RegistryCredentials>({ username: words, password: words })),
  resources,
  gpuType: optional(objectOf<CatalogedGpu>({ id: words, pool: orNull(words) })),
  volume: optional(objectOf<WorkerVolume>({ id, accountId: id, sizeGb: count })),
  endpointType: oneOf(['QUEUE', 'LOAD_BALANCER']),
  slots: optional(count),
  executionTimeoutMs: amount(),
  restarts: count,
  leavesAfterIdleMs: optional(amount()),
  pausesAfterIdleMs: optional(amount()),
  unopenable: optional(text()),
});

const deletedIds = listOf(id, SPOOLED_ENDPOINTS_MAX);

const droppedEntries = objectOf<DroppedEntries>({
  count,
  examples: listOf(objectOf<DroppedEntry>({ member: text(), reason: text() }), EXAMPLES_MAX),
});

const deletedVolumes = listOf(objectOf<HostVolume>({ id, accountId: id }), DELETED_VOLUMES_MAX);

const imagesAhead = listOf(
  objectOf<WantedImage>({
    endpointId: id,
    release: count,
    accountId: id,
    image: words,
    imageDigest: optional(text()),
    registryCredentials: optional(objectOf<RegistryCredentials>({ username: words, password: words })),
  }),
  IMAGES_AHEAD_MAX,
);

export const readJoinReply = (body: unknown): Reading<JoinReply> =>
  readShape(objectOf<JoinReply>({ hostId: id, dataCenterId: text() }), body);

/**
 * A reply entry by entry: one that cannot be read costs the workers of no other. Unreadable as a whole is only what does
 * not say which workers there shall be at all.
 */
export function readHostReply(body: unknown): Reading<ReadHostReply> {
  const frame = (body ?? {}) as Readonly<Partial<Record<keyof HostReply, unknown>>>;
  const { dataCenterId, desired } = frame;
  const fault = text()(dataCenterId, '$.dataCenterId') ?? listOf(() => null, DESIRED_WORKERS_MAX)(desired, '$.desired');
  if (fault !== null) return unreadable(fault);
  return readAs({
    ...readDesired(desired as readonly unknown[]),
    dataCenterId: dataCenterId as string,
    // Logs that were not named stay; who names them again is told again.
    ...(deletedIds(frame.deletedEndpointIds, '$.deletedEndpointIds') === null
      ? { deletedEndpointIds: frame.deletedEndpointIds as readonly EndpointId[] }
      : {}),
    ...(droppedEntries(frame.dropped, '$.dropped') === null ? { dropped: frame.dropped as DroppedEntries } : {}),
    // Whole or not at all: nothing is deleted by a list that is only half understood.
    ...(deletedVolumes(frame.deletedVolumes, '$.deletedVolumes') === null
      ? { deletedVolumes: frame.deletedVolumes as readonly HostVolume[] }
      : {}),
    // Nobody's worker depends on it: who does not understand it prepares nothing.
    ...(imagesAhead(frame.imagesAhead, '$.imagesAhead') === null
      ? { imagesAhead: frame.imagesAhead as readonly WantedImage[] }
      : {}),
  });
}

function readDesired(
  entries: readonly unknown[],
): Pick<ReadHostReply, 'desired' | 'heldIds' | 'isComplete' | 'faults'> {
  const desired: DesiredWorker[] = [];
  const heldIds: WorkerId[] = [];
  const faults: string[] = [];
  let isComplete = true;
  for (const [index, entry] of entries.entries()) {
    const fault = desiredWorker(entry, `$.desired[${index}]`);
    if (fault === null) {
      desired.push(entry as DesiredWorker);
      continue;
    }
    faults.push(fault);
    const { workerId } = (entry ?? {}) as { readonly workerId?: unknown };
    if (id(workerId, '') === null) heldIds.push(workerId as WorkerId);
    else isComplete = false;
  }
  return { desired, heldIds, isComplete, faults };
}

/** What can be made of a wake: what cannot be read of it says nothing, and the reply to the next report says all. */
export function readWakeMessage(body: unknown): WakeMessage {
  const { isAll, resumedIds } = (body ?? {}) as { readonly isAll?: unknown; readonly resumedIds?: unknown };
  const entries: readonly unknown[] = Array.isArray(resumedIds) ? resumedIds.slice(0, RESUMED_IDS_MAX) : [];
  const readable = entries.filter((entry): entry is WorkerId => id(entry, '$') === null);
  // An agent that is not sure to have read all must ask.
  const isWhole = isAll === true && Array.isArray(resumedIds) && readable.length === resumedIds.length;
  return { resumedIds: readable, ...(isWhole ? { isAll } : {}) };
}
