import { SUBMIT_FILL_MAX } from '@berth/domain';
import {
  AttachmentRooms,
  JetStreamAttachments,
  JetStreamBlobs,
  JetStreamChunks,
  type AttachmentRoomsOptions,
  type Broker,
} from '@berth/messaging';
import type { Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry, Readiness } from '@berth/telemetry';
import { admittedBlobs, boundedBlobs, boundedChunks } from './bounded-payloads.js';
import { storeMetrics } from './metrics.js';
import { STORES, storeFullDetail, type Store } from './store-full.js';

export interface StoresParts {
  readonly broker: Broker;
  /** Over a connection of its own: payloads must keep nothing else waiting. */
  readonly payloadBroker: Broker;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where payloads of jobs lie, and how full it is there. Both rooms are to be started. */
export function composeStores({ broker, clock, logger, payloadBroker }: StoresParts) {
  const openRooms = (kind: AttachmentRoomsOptions['kind']): AttachmentRooms =>
    new AttachmentRooms({
      ...{ kind, broker, clock },
      onError: (error) => logger.warn(`how full the store of ${kind} is could not be seen`, { error }),
    });
  const [blobRooms, chunkRooms] = [openRooms('blobs'), openRooms('chunks')];
  const blobs = boundedBlobs(new JetStreamBlobs(payloadBroker));
  return {
    blobs,
    /** The same for what callers bring, which is refused first. */
    callersBlobs: admittedBlobs(blobs, blobRooms),
    chunks: boundedChunks(new JetStreamChunks(payloadBroker)),
    attachments: new JetStreamAttachments(payloadBroker),
    blobRooms,
    chunkRooms,
  };
}

/** Says what takes no new jobs at the moment, in words and as a figure. */
export function watchStores(
  { metrics, readiness }: { readonly metrics: MetricRegistry; readonly readiness: Readiness },
  fills: Readonly<Record<Store, () => number>>,
): void {
  const fullest = (): number => Math.max(...Object.values(fills).map((fill) => fill()));
  storeMetrics(metrics, fullest);
  readiness.addDegradation(() => STORES.filter((store) => fills[store]() >= SUBMIT_FILL_MAX).map(storeFullDetail));
}
