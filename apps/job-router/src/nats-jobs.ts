import { stopSubject } from '@berth/contracts';
import type { EndpointId, JobKey } from '@berth/domain';
import { recallable, type JobStore } from '@berth/jobs';
import type { Clock, Random } from '@berth/lifecycle';
import {
  JetStreamBlobs,
  JetStreamChunks,
  JetStreamDeliveries,
  JetStreamJobRecords,
  JetStreamLeases,
  JetStreamReaderCursors,
  JetStreamReservations,
  JetStreamTickets,
  JobNotifications,
  LeaseWatch,
  StorageAdmission,
  StoreSurvey,
  publishOneWay,
  type Broker,
} from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { Doorbell } from './agent-gateway/dispatcher/doorbell.port.js';
import { boundedBlobs, boundedChunks } from './bounded-payloads.js';
import type { JobNews, JobNotices, JobWatch } from './jobs/job-notices.port.js';
import type { SharedCursors } from './job-stream/shared-cursors.port.js';
import type { LeaseOutlook, StoreSurvey as Survey } from './job-maintenance/maintenance.port.js';
import { NatsJobFeed } from './nats-job-feed.js';
import { NatsPendingDeliveries } from './nats-pending-deliveries.js';

export interface NatsJobsOptions {
  readonly broker: Broker;
  /** Over a connection of its own: payloads must keep no lease and no record waiting. */
  readonly payloadBroker: Broker;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly leaseMs?: number | undefined;
}

/** Everything about jobs that lies in the broker. */
export class NatsJobs {
  readonly store: JobStore;
  readonly notices: JobNotices & Doorbell;
  readonly feed: NatsJobFeed;
  readonly leases: NatsLeaseOutlook;
  readonly survey: Survey;
  readonly deliveries: NatsPendingDeliveries;
  readonly readerCursors: SharedCursors;
  readonly #admission: StorageAdmission;

  constructor(options: NatsJobsOptions) {
    const { broker, clock, random, logger } = options;
    this.#admission = new StorageAdmission({
      broker,
      clock,
      onError: (error) => {
        logger.warn('the fill of the job store cannot be read', { error });
      },
    });
    const tickets = new JetStreamTickets(broker);
    this.store = {
      records: recallable(new JetStreamJobRecords(broker, this.#admission)),
      tickets,
      leases: new JetStreamLeases(broker, options.leaseMs),
      blobs: boundedBlobs(new JetStreamBlobs(options.payloadBroker, this.#admission)),
      chunks: boundedChunks(new JetStreamChunks(options.payloadBroker)),
      deliveries: new JetStreamDeliveries(broker, () => this.deliveries.fill),
      reservations: new JetStreamReservations(broker),
      stopSignals: {
        send: (hostId, { endpointId, jobId, attempt, token, reason }) => {
          publishOneWay(broker.connection, stopSubject(hostId), {
            jobs: [{ endpointId, jobId, attempt, token, reason }],
          });
        },
      },
      clock,
      random,
    };
    this.notices = new NatsNotices(new JobNotifications(broker, clock));
    this.feed = new NatsJobFeed(options);
    this.leases = new NatsLeaseOutlook(options);
    this.readerCursors = new JetStreamReaderCursors(broker);
    this.deliveries = new NatsPendingDeliveries(options);
    const survey = new StoreSurvey(broker);
    this.survey = {
      tickets: () => tickets.allAttempts(),
      hasTicket: (ticket) => tickets.has(ticket),
      attachments: () => survey.attachments(),
      purgeEndpoint: (endpointId) => survey.purgeEndpoint(endpointId),
    };
  }

  /** Stores that take nothing new at the moment, in words. */
  get refusing(): readonly string[] {
    return this.#admission.refusing;
  }

  /** Share of the fullest store's room that is taken, 0 to 1. */
  get fill(): number {
    return Math.max(0, ...this.#admission.fill().values());
  }

  async start(): Promise<void> {
    await this.#admission.start();
    this.leases.start();
    this.deliveries.start();
    this.feed.start();
  }

  async stop(): Promise<void> {
    this.#admission.stop();
    await Promise.all([this.feed.stop(), this.leases.stop(), this.deliveries.stop()]);
  }
}

class NatsNotices implements JobNotices, Doorbell {
  readonly #notifications: JobNotifications;

  constructor(notifications: JobNotifications) {
    this.#notifications = notifications;
  }

  watch(key: JobKey, news?: JobNews): JobWatch {
    return this.#notifications.watch(key, news);
  }

  ring(key: JobKey): void {
    this.#notifications.ring(key);
  }

  listen(endpointId: EndpointId, onRing: () => void): () => void {
    return this.#notifications.onTicket(endpointId, onRing);
  }
}

export class NatsLeaseOutlook implements LeaseOutlook {
  readonly #watch: LeaseWatch;
  readonly #listeners: (() => void)[] = [];

  constructor({ broker, clock, logger }: NatsJobsOptions) {
    this.#watch = new LeaseWatch({
      broker,
      clock,
      onExpired: () => {
        for (const listener of this.#listeners) listener();
      },
      onInterrupted: (stream, reason) => {
        logger.warn('the watch of leases was interrupted', { stream, reason });
      },
    });
  }

  get lastResetAtMs(): number {
    return this.#watch.lastResetAtMs;
  }

  stateOf(key: JobKey & { readonly attempt: number }): 'live' | 'expired' | 'unseen' {
    return this.#watch.stateOf(key);
  }

  onExpired(listener: () => void): void {
    this.#listeners.push(listener);
  }

  start(): void {
    this.#watch.start();
  }

  stop(): Promise<void> {
    return this.#watch.stop();
  }
}
