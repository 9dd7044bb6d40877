import { PlatformError, cleanText, type Inventory, type ObservedWorker } from '@berth/domain';
import type { DroppedEntries, JoinRequest, ReportRequest } from '@berth/contracts';
import { EntryReader, readFrame } from './entry-reader.js';
import { GpuDto, InventoryDto, JoinFrameDto, ObservedWorkerDto, ReportFrameDto } from './host-messages.dto.js';

const WORKERS_MAX = 4_096;
const GPUS_MAX = 256;
const IMAGES_MAX = 10_000;
const IMAGE_NAME_CHARACTERS_MAX = 512;

export type JoinFrame = Omit<JoinRequest, 'inventory'>;
export type ReportFrame = Omit<ReportRequest, 'inventory' | 'workers'>;

/** A report without what could not be read of it. */
export interface ReadReport extends Omit<ReportRequest, 'inventory'> {
  /** Null: that of the report before stands. */
  readonly inventory: Inventory | null;
  readonly dropped?: DroppedEntries | null;
}

/** Who asks, which is judged before anything else is read of a message. @throws PlatformError `invalid-fields` */
export const readJoinFrame = (body: unknown): JoinFrame => readFrame(JoinFrameDto, body);

/** Who reports, which is judged before anything else is read of it. @throws PlatformError `invalid-fields` */
export const readReportFrame = (body: unknown): ReportFrame => readFrame(ReportFrameDto, body);

/**
 * Whole or not at all: nobody works on a host that joins, and its operator is there to mend it.
 *
 * @throws PlatformError `invalid-fields`
 */
export function readJoin(body: unknown): JoinRequest {
  const frame = readJoinFrame(body);
  const reader = new EntryReader();
  const inventory = readInventory(reader, memberOf(body, 'inventory'));
  if (inventory === null || reader.dropped !== null) {
    throw new PlatformError('invalid-fields', 'The message of this host cannot be read: inventory.');
  }
  return { ...frame, inventory };
}

/**
 * A host is trusted with its own workers, not with the shape of what it says; and what one worker made it say must not
 * cost the others their host. So every entry is judged by itself.
 *
 * @throws PlatformError `invalid-fields` where it cannot be known whose report it is, and which
 */
export function readReport(body: unknown): ReadReport {
  const frame = readReportFrame(body);
  const reader = new EntryReader();
  const inventory = readInventory(reader, memberOf(body, 'inventory'));
  const listed = reader.readList(ObservedWorkerDto, memberOf(body, 'workers'), { member: 'workers', max: WORKERS_MAX });
  const workers = withoutRepeats(reader, listed);
  return { ...frame, inventory, workers, dropped: reader.dropped };
}

function readInventory(reader: EntryReader, value: unknown): Inventory | null {
  if (typeof value !== 'object' || value === null) {
    reader.drop('inventory', 'no object');
    return null;
  }
  const lists = value as { readonly gpus?: unknown; readonly images?: unknown };
  const gpus = reader.readList(GpuDto, lists.gpus, { member: 'inventory.gpus', max: GPUS_MAX });
  const images = readImages(reader, lists.images);
  const inventory = reader.read(InventoryDto, { ...value, gpus: [], images: [] }, 'inventory');
  return inventory === null ? null : { ...inventory, gpus, images };
}

/** In a plain loop: a host may have thousands, and a validator for each would keep everybody else waiting. */
function readImages(reader: EntryReader, images: unknown): readonly string[] {
  if (!Array.isArray(images)) {
    reader.drop('inventory.images', 'no list');
    return [];
  }
  const names: string[] = [];
  for (const [index, name] of images.slice(0, IMAGES_MAX).entries()) {
    if (typeof name === 'string') names.push(cleanText(name, IMAGE_NAME_CHARACTERS_MAX));
    else reader.drop(`inventory.images[${index}]`, 'no text');
  }
  if (images.length > IMAGES_MAX) {
    reader.drop(`inventory.images[${IMAGES_MAX}]`, `more than ${IMAGES_MAX}`, images.length - IMAGES_MAX);
  }
  return names;
}

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
