import { BodyBudget, StreamedAnswers } from '@berth/http';
import type { ReaderCursors } from '@berth/payloads';
import type { Jobs } from '../edge/index.js';
import type { JobReader } from '../jobs/index.js';
import type { Platform } from '../platform/index.js';
import { EventStreams } from './event-streams.js';
import { JobStream } from './job-stream.js';
import { streamMetrics } from './metrics.js';
import { ReaderPlaces } from './reader-places.js';

export interface JobStreamParts {
  readonly jobs: Jobs;
  readonly reader: JobReader;
  readonly cursors: ReaderCursors;
}

/** Serves stream chunks. */
export function composeJobStream({ clock, logger, metrics }: Platform, { cursors, jobs, reader }: JobStreamParts) {
  const stream = new JobStream({ jobs, reader, clock });
  const budget = new BodyBudget();
  const answers = new StreamedAnswers({ budget, clock });
  streamMetrics(metrics, answers, budget);
  return {
    stream,
    answers,
    events: new EventStreams({ stream, reader, answers }),
    places: new ReaderPlaces(cursors, logger),
  };
}
