import {
  INSTANT_MAX_MS,
  RUNTIME_KINDS,
  WORKER_NOTES_MAX,
  WORKER_PHASES,
  WORKER_REASON_CHARACTERS_MAX,
  cleanText,
  type EndpointId,
  type HostGpu,
  type ImageAhead,
  type Inventory,
  type ObservedWorker,
  type VolumeStorage,
} from '@berth/domain';
import {
  amount,
  flag,
  id,
  integer,
  listOf,
  matching,
  objectOf,
  oneOf,
  optional,
  orNull,
  port,
  readAs,
  readMembers,
  text,
  unreadable,
  type Members,
  type Reading,
} from '@berth/domain/shape';
import { SPOOLED_ENDPOINTS_MAX } from './log-messages.js';
import { EntryReader } from './entry-reader.js';
import {
  DELETED_VOLUMES_MAX,
  IMAGES_AHEAD_MAX,
  type DroppedEntries,
  type JoinRequest,
  type ReportRequest,
} from './host-messages.js';

const REPORTED_WORKERS_MAX = 4_096;
const GPUS_MAX = 256;
const REPORTED_IMAGES_MAX = 10_000;
const NAME_CHARACTERS_MAX = 512;

export type JoinFrame = Omit<JoinRequest, 'inventory'>;
export type ReportFrame = Omit<ReportRequest, 'inventory' | 'workers' | 'spooledEndpointIds'>;

/** A report without what could not be read of it. */
export interface ReadReport extends Omit<ReportRequest, 'inventory'> {
  /** Null: that of the report before stands. */
  readonly inventory: Inventory | null;
  readonly dropped?: DroppedEntries | null;
}

/** Ids are ours, so one that is none names nothing here. */
const printable = matching('an id of printable characters', /^[\x21-\x7e]{1,128}$/);
/** Cut to its bound where it is cleaned. */
const words = text(Number.POSITIVE_INFINITY);
const instantMs = amount(INSTANT_MAX_MS);
const size = amount(Number.MAX_SAFE_INTEGER);

const JOIN_FRAME: Members<JoinFrame> = { token: text(), secretHash: matching('a SHA-256 in hex', /^[0-9a-f]{64}$/) };

const REPORT_FRAME: Members<ReportFrame> = {
  secret: text(),
  instanceId: printable,
  sequence: integer(0),
  sentAtMs: optional(orNull(instantMs)),
  clearedVolumeIds: optional(orNull(listOf(printable, DELETED_VOLUMES_MAX))),
};

const GPU: Members<HostGpu> = { index: integer(0), uuid: optional(printable), typeId: words, memoryBytes: size };

type ReadAlone = 'gpus' | 'images' | 'agentVersion';

/** Nothing depends on it, so it costs nobody the rest. */
const AGENT: Members<Pick<Inventory, 'agentVersion'>> = {
  agentVersion: optional(matching('a version of at most 64 characters', /^[0-9A-Za-z.+-]{1,64}$/)),
};

/** Its lists are read item by item. */
const INVENTORY: Members<Omit<Inventory, ReadAlone>> = {
  vcpus: amount(2 ** 31 - 1),
  isOvercommitted: flag,
  memoryBytes: size,
  diskBytes: size,
  areGpusSimulated: flag,
  cudaVersion: optional(orNull(matching('a version', /^\d{1,9}\.\d{1,9}$/))),
  runtime: oneOf(RUNTIME_KINDS),
  canPause: optional(flag),
  volumes: optional(orNull(objectOf<VolumeStorage>({ storageId: id }))),
  imagesAhead: optional(
    listOf(
      objectOf<ImageAhead>({
        endpointId: printable,
        release: integer(1),
        state: oneOf(['pending', 'ready', 'failed']),
        reason: words,
      }),
      IMAGES_AHEAD_MAX,
    ),
  ),
};

/** `idleSinceMs` is ours to say: what a host writes there is not taken over. */
const OBSERVED_WORKER: Members<Omit<ObservedWorker, 'idleSinceMs'>> = {
  workerId: printable,
  endpointId: printable,
  release: integer(1),
  phase: oneOf(WORKER_PHASES),
  reason: words,
  runningJobs: integer(0),
  failedStarts: integer(0),
  phaseSinceMs: instantMs,
  startedAtMs: optional(orNull(instantMs)),
  gpuTypeId: optional(orNull(words)),
  imageDigest: optional(orNull(matching('a digest', /^sha256:[0-9a-f]{64}$/))),
  imagePercent: optional(orNull(integer(0, 100))),
  failure: optional(orNull(oneOf(['image', 'container']))),
  lacksRoom: optional(flag),
  nextStartAtMs: optional(orNull(instantMs)),
  lastJobEndedAtMs: optional(orNull(instantMs)),
  port: optional(orNull(port)),
  healthPort: optional(orNull(port)),
  notes: optional(orNull(listOf(words, WORKER_NOTES_MAX))),
};

/** The host that asks, which is judged before anything else is read of a message. */
export const readJoinFrame = (body: unknown): Reading<JoinFrame> => readMembers(JOIN_FRAME, body);

/** The host that reports, which is judged before anything else is read of it. */
export const readReportFrame = (body: unknown): Reading<ReportFrame> => readMembers(REPORT_FRAME, body);

/** Whole or not at all: no tenant works on a host that joins, and its operator is there to mend it. */
export function readJoin(body: unknown): Reading<JoinRequest> {
  const frame = readJoinFrame(body);
  if (frame.kind === 'unreadable') return frame;
  const reader = new EntryReader();
  const inventory = readInventory(reader, memberOf(body, 'inventory'));
  if (inventory === null || reader.dropped !== null) return unreadable('$.inventory has what cannot be read');
  return readAs({ ...frame.value, inventory });
}

/**
 * A host is trusted with its own workers, not with the shape of what it says; and what one worker made it say must not
 * cost the others their host. So every entry is judged by itself. Unreadable is only a report of which it cannot be known
 * whose it is.
 */
export function readReport(body: unknown): Reading<ReadReport> {
  const frame = readReportFrame(body);
  if (frame.kind === 'unreadable') return frame;
  const reader = new EntryReader();
  const inventory = readInventory(reader, memberOf(body, 'inventory'));
  const list = { member: 'workers', max: REPORTED_WORKERS_MAX };
  const listed = reader.readList(memberOf(body, 'workers'), list, (value, member) => {
    const worker = reader.read<Omit<ObservedWorker, 'idleSinceMs'>>(OBSERVED_WORKER, value, member);
    return worker === null ? null : cleanWorker(worker);
  });
  const workers = withoutRepeats(reader, listed);
  const spooled = readSpooled(reader, memberOf(body, 'spooledEndpointIds'));
  return readAs({ ...frame.value, inventory, workers, ...spooled, dropped: reader.dropped });
}

/** Absent where nothing is kept, and of a host that keeps no logs. */
function readSpooled(reader: EntryReader, value: unknown): Pick<ReportRequest, 'spooledEndpointIds'> {
  if (value === undefined) return {};
  const list = { member: 'spooledEndpointIds', max: SPOOLED_ENDPOINTS_MAX };
  const spooledEndpointIds = reader.readList<EndpointId>(value, list, (item, member) => {
    if (id(item, member) === null) return item as EndpointId;
    reader.drop(member, 'no id');
    return null;
  });
  return { spooledEndpointIds };
}

/** Texts that came by way of an agent: a worker, an image or an engine wrote them. */
const cleanWorker = (worker: ObservedWorker): ObservedWorker => ({
  ...worker,
  reason: cleanText(worker.reason, WORKER_REASON_CHARACTERS_MAX),
  gpuTypeId: worker.gpuTypeId == null ? null : cleanText(worker.gpuTypeId, NAME_CHARACTERS_MAX),
  ...(worker.notes == null ? {} : { notes: worker.notes.map((note) => cleanText(note, WORKER_REASON_CHARACTERS_MAX)) }),
});

function readInventory(reader: EntryReader, value: unknown): Inventory | null {
  if (typeof value !== 'object' || value === null) {
    reader.drop('inventory', 'no object');
    return null;
  }
  const gpuList = { member: 'inventory.gpus', max: GPUS_MAX };
  const listed = reader.readList(memberOf(value, 'gpus'), gpuList, (item, member) => {
    const gpu = reader.read<HostGpu>(GPU, item, member);
    return gpu === null ? null : { ...gpu, typeId: cleanText(gpu.typeId, NAME_CHARACTERS_MAX) };
  });
  const gpus = withoutRepeatedGpus(reader, listed);
  const imageList = { member: 'inventory.images', max: REPORTED_IMAGES_MAX };
  const images = reader.readList(memberOf(value, 'images'), imageList, (name, member) => {
    if (typeof name === 'string') return cleanText(name, NAME_CHARACTERS_MAX);
    reader.drop(member, 'no text');
    return null;
  });
  const agent = reader.read<Pick<Inventory, 'agentVersion'>>(AGENT, value, 'inventory');
  const inventory = reader.read<Omit<Inventory, ReadAlone>>(INVENTORY, value, 'inventory');
  if (inventory === null) return null;
  const { imagesAhead, volumes, ...rest } = inventory;
  const kept = volumes == null ? {} : { volumes: { storageId: volumes.storageId } };
  return {
    ...rest,
    cudaVersion: rest.cudaVersion ?? null,
    gpus,
    images,
    ...kept,
    ...cleanAhead(imagesAhead),
    ...agent,
  };
}

/** A card that is named twice would be given to two workers. */
function withoutRepeatedGpus(reader: EntryReader, gpus: readonly HostGpu[]): readonly HostGpu[] {
  const seen = new Set<number | string>();
  return gpus.filter(({ index, uuid = index }) => {
    const isRepeated = seen.has(index) || seen.has(uuid);
    if (isRepeated) reader.drop('inventory.gpus', `the card with index ${index} is named twice`);
    else seen.add(index).add(uuid);
    return !isRepeated;
  });
}

const cleanAhead = (ahead: readonly ImageAhead[] | undefined): Pick<Inventory, 'imagesAhead'> =>
  ahead === undefined
    ? {}
    : { imagesAhead: ahead.map((each) => ({ ...each, reason: cleanText(each.reason, NAME_CHARACTERS_MAX) })) };

/** Of two words about one worker neither is known to be the newer one; the first counts. */
function withoutRepeats(reader: EntryReader, workers: readonly ObservedWorker[]): readonly ObservedWorker[] {
  const byId = new Map<string, ObservedWorker>();
  for (const worker of workers) {
    if (byId.has(worker.workerId)) reader.drop('workers', `${worker.workerId} is named twice`);
    else byId.set(worker.workerId, worker);
  }
  return [...byId.values()];
}

const memberOf = (body: unknown, name: string): unknown => (body as Readonly<Record<string, unknown>>)[name];
