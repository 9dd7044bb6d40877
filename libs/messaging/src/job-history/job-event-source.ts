import type { HistoryEvent } from '@berth/domain';
import type { Broker } from '../broker/broker.js';
import { API_ERROR, unexpectedAnswer } from '../broker/broker-errors.js';
import { readJobRecord } from '../job-records/job-record-codec.js';
import { readJobEvent } from '../job-view/job-event.js';
import { STREAMS } from '../topology/subjects.js';
import { readEventPage, type EventPageQuery, type StoredEvent } from './read-event-page.js';

/** A place in `EV`, and what stood there: another message under the same sequence means that events were lost. */
export interface EventPosition {
  readonly sequence: number;
  /** RFC 3339, as precise as the broker's clock. */
  readonly storedAt: string;
}

/** A message that is no version of a job's record, or one that this process cannot read. */
export interface UnreadableEvent {
  readonly kind: 'unreadable';
  readonly subject: string;
  readonly reason: string;
}

export interface SourcedEvent {
  readonly position: EventPosition;
  readonly event: HistoryEvent | UnreadableEvent;
}

export interface EventBatch {
  /** In order, from behind the place that was asked for on. */
  readonly events: readonly SourcedEvent[];
  /** Nothing more was there. */
  readonly isLast: boolean;
  /**
   * The stream does not go on where the reader was: it has dropped what was not read yet, lost its tail, or was made anew.
   * Then it is told from some minutes before that place, so what was read may come again.
   */
  readonly isInterrupted: boolean;
}

export interface JobEventSourceOptions {
  readonly broker: Broker;
  readonly countMax?: number;
  /** A batch ends with the message that exceeds this. To be more than the largest record. */
  readonly bytesMax?: number;
}

const COUNT_DEFAULT = 500;
const BYTES_DEFAULT = 16 * 1024 ** 2;
/** Clocks of brokers differ, and what a broker lost when it crashed lies moments before its end. */
const OVERLAP_MS = 10 * 60_000;
const BEGINNING = '1970-01-01T00:00:00Z';
const NOTHING_NEW: EventBatch = { events: [], isLast: true, isInterrupted: false };

/** The whole events of `EV`, page by page, for a reader that keeps its own place. */
export class JobEventSource {
  readonly #options: JobEventSourceOptions;

  constructor(options: JobEventSourceOptions) {
    this.#options = options;
  }

  /**
   * What follows a place; null: everything that there is.
   *
   * @throws PlatformError `service-unavailable`
   */
  async read(after: EventPosition | null): Promise<EventBatch> {
    if (after === null) return this.#readOn({ storedAt: BEGINNING }, false);
    if (await isEnd(this.#options.broker, after)) return NOTHING_NEW;
    // From the place itself on, so that it proves to be the same; where it is alone the page holds it and nothing else.
    const { events, isLast } = await this.#page({ sequence: after.sequence });
    const [known, ...news] = events;
    if (known?.sequence === after.sequence && known.storedAt === after.storedAt) {
      return { events: news.map(sourced), isLast, isInterrupted: false };
    }
    // A replica that is a moment behind does not know the place yet.
    if (await isStored(this.#options.broker, after)) return NOTHING_NEW;
    return this.#readOn({ storedAt: earlier(after.storedAt) }, true);
  }

  async #readOn(from: EventPageQuery['from'], isInterrupted: boolean): Promise<EventBatch> {
    const { events, isLast } = await this.#page(from);
    return { events: events.map(sourced), isLast, isInterrupted };
  }

  async #page(from: EventPageQuery['from']): Promise<{ readonly events: readonly StoredEvent[]; isLast: boolean }> {
    const { broker, bytesMax = BYTES_DEFAULT, countMax = COUNT_DEFAULT } = this.#options;
    const { events, pending } = await readEventPage(broker, { from, bytesMax, countMax: countMax + 1 });
    return { events, isLast: pending === 0 };
  }
}

/** Whether the place is the last one. A reader who looks often would else be sent the same record each time. */
async function isEnd(broker: Broker, { sequence, storedAt }: EventPosition): Promise<boolean> {
  const { error, state } = await broker.ask<{
    readonly state?: { readonly last_seq: number; readonly last_ts: string };
  }>(`$JS.API.STREAM.INFO.${STREAMS.events}`, '');
  if (error !== undefined) throw unexpectedAnswer(`look at ${STREAMS.events}`, error);
  return state?.last_seq === sequence && state.last_ts === storedAt;
}

/** Whether the stream's leader has that very message at that place. */
async function isStored(broker: Broker, { sequence, storedAt }: EventPosition): Promise<boolean> {
  const { error, message } = await broker.ask<{ readonly message?: { readonly time: string } }>(
    `$JS.API.STREAM.MSG.GET.${STREAMS.events}`,
    JSON.stringify({ seq: sequence }),
  );
  if (error?.err_code === API_ERROR.noMessage) return false;
  if (error !== undefined) throw unexpectedAnswer(`read ${STREAMS.events} at ${sequence}`, error);
  return message?.time === storedAt;
}

const earlier = (storedAt: string): string => new Date(Date.parse(storedAt) - OVERLAP_MS).toISOString();

const sourced = (message: StoredEvent): SourcedEvent => ({
  position: { sequence: message.sequence, storedAt: message.storedAt },
  event: readEvent(message),
});

function readEvent(message: StoredEvent): HistoryEvent | UnreadableEvent {
  try {
    const event = readJobEvent(message, 'events');
    if (event === null) return unreadable(message, 'no record of a job');
    const { endpointId, jobId, recordSequence, state } = event;
    if (state === 'removed') return { kind: 'removed', key: { endpointId, jobId }, recordSequence };
    const record = readJobRecord(message.body);
    if (record.kind === 'unreadable') return unreadable(message, record.reason);
    if (record.value.id !== jobId || record.value.endpointId !== endpointId) {
      return unreadable(message, 'it is the record of another job');
    }
    return { kind: 'changed', job: record.value, recordSequence };
  } catch (error) {
    return unreadable(message, error instanceof Error ? error.message : String(error));
  }
}

const unreadable = ({ subject }: StoredEvent, reason: string): UnreadableEvent => ({
  kind: 'unreadable',
  subject,
  reason,
});
