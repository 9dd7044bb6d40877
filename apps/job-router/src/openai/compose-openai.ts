import type { StreamedAnswers } from '@berth/http';
import type { Jobs } from '../edge/index.js';
import type { JobStream } from '../job-stream/index.js';
import type { HeldCalls, JobReader } from '../jobs/index.js';
import type { Platform } from '../platform/index.js';
import { AnswerRelay } from './answer-relay.js';
import { openAiMetrics } from './metrics.js';
import { OpenAiRequests } from './openai-requests.js';
import { WorkerOutputs } from './worker-outputs.js';

/** As long as the official client waits by default: room for a cold start with a large model. */
const QUEUE_WAIT_MS = 600_000;

export interface OpenAiParts {
  readonly jobs: Jobs;
  readonly reader: JobReader;
  readonly held: HeldCalls;
  readonly stream: JobStream;
  readonly answers: StreamedAnswers;
}

/** Answers OpenAI's clients. */
export function composeOpenAi({ clock, logger, metrics }: Platform, parts: OpenAiParts): OpenAiRequests {
  const shared = { ...parts, clock, queueWaitMs: QUEUE_WAIT_MS };
  const outputs = new WorkerOutputs(parts.jobs, parts.reader);
  const relay = new AnswerRelay({ ...shared, outputs });
  const requests: OpenAiRequests = new OpenAiRequests({
    ...shared,
    outputs,
    relay,
    logger,
    metrics: openAiMetrics(metrics, () => requests.open),
  });
  return requests;
}
