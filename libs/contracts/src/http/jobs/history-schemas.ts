import { JOB_STATES } from '@berth/domain';
import type { Schema, Schemas } from '../json-schema/json-schema.js';
import {
  JOB_ID,
  JOB_STATUS,
  instantSchema,
  listSchema,
  objectWith,
  nullableSchema,
  refTo,
  textSchema,
  whole,
} from '../json-schema/schema-parts.js';

const WORKER = textSchema('Id of the worker.', 'k3v9x0q2m7a1zd');
const ENDPOINT_ID = 'k3v9x0q2m7a1zd';

const REQUEST: Readonly<Record<string, Schema>> = {
  id: JOB_ID,
  status: JOB_STATUS,
  createdAt: instantSchema('When it was submitted.'),
  startedAt: nullableSchema(instantSchema('When its present or last attempt began.')),
  completedAt: nullableSchema(instantSchema('When it ended.')),
  delayTime: whole('How long it waited, in milliseconds.', 120),
  executionTime: whole('How long it has run, in milliseconds.', 2_400),
  workerId: nullableSchema(WORKER),
  attempts: whole('How many were started.', 1),
  error: nullableSchema(textSchema('Why it failed.', 'executionTimeout exceeded')),
  queue: refTo('JobQueue'),
};

const LISTS: Schemas = {
  JobRequests: objectWith(
    'Jobs of an endpoint, the newest first.',
    {
      requests: listSchema(refTo('ListedRequest'), 'The jobs of this page.'),
      cursor: nullableSchema(
        textSchema('Names the next page; null: there is none.', '1767268800000.3f2a9c10-5d0f-4f6c-9a8e-0a4c2b7d1e55'),
      ),
      degraded: listSchema(refTo('Shortfall'), 'What the list may lack, and why; absent: nothing.'),
    },
    ['degraded'],
  ),
  Shortfall: objectWith('A part of the answer that may lack jobs.', {
    source: { type: 'string', const: 'history', description: 'Where they would come from.', examples: ['history'] },
    detail: textSchema('Why.', 'The history does not answer.'),
  }),
};

const REQUESTS: Schemas = {
  ListedRequest: objectWith(
    'A job of the list. What does not apply is null; `queue` stands with jobs that wait.',
    REQUEST,
    ['queue'],
  ),
  RequestDetail: objectWith(
    'A job with all its attempts.',
    {
      ...REQUEST,
      webhook: nullableSchema(textSchema('Where its end is told to.', 'https://hooks.example.com/jobs')),
      history: listSchema(refTo('JobAttempt'), 'Its attempts, the first one first.'),
    },
    ['queue'],
  ),
  JobAttempt: objectWith('One attempt.', {
    attempt: whole('Counted from 1.', 1),
    hostId: textSchema('Id of the host.', ENDPOINT_ID),
    workerId: WORKER,
    startedAt: instantSchema('When it began.'),
    endedAt: nullableSchema(instantSchema('When it ended; null while it runs.')),
    stoppedAt: nullableSchema(instantSchema('When the worker of one that was cancelled or timed out let go of it.')),
    outcome: {
      type: ['string', 'null'],
      enum: [...JOB_STATES, 'lost', null],
      description: 'How it ended; `lost`: it was queued again.',
      examples: ['COMPLETED'],
    },
    reason: nullableSchema(textSchema('Why it ended so.', 'worker crashed')),
    logTail: {
      ...listSchema({ type: 'string' }, 'The last lines that its worker wrote, oldest first.'),
      examples: [['out of memory']],
    },
  }),
};

const DELIVERIES: Schemas = {
  WebhookDeliveries: objectWith('What became of the webhooks of a job.', {
    deliveries: listSchema(refTo('WebhookDelivery'), 'The oldest first.'),
  }),
  WebhookDelivery: objectWith(
    'One message to a webhook.',
    {
      id: textSchema('Id of the message, the same for each try.', 'msg_3f2a9c10'),
      url: textSchema('Where it goes.', 'https://hooks.example.com/jobs'),
      status: {
        type: 'string',
        enum: ['pending', 'delivered', 'failed'],
        description: 'What became of it.',
        examples: ['delivered'],
      },
      attempts: listSchema(refTo('DeliveryTry'), 'Its tries, the first one first.'),
      nextAttemptAt: instantSchema('When it is tried next; absent where it is not, or is being tried.'),
    },
    ['nextAttemptAt'],
  ),
  DeliveryTry: objectWith(
    'One try. One that is under way has neither an answer nor an error.',
    {
      at: instantSchema('When it began.'),
      statusCode: whole('HTTP status of the answer.', 204),
      error: textSchema('What failed.', 'the receiver answered 500'),
      durationMs: whole('How long it took, in milliseconds.', 85),
    },
    ['statusCode', 'error'],
  ),
};

export const HISTORY_SCHEMAS: Schemas = { ...LISTS, ...REQUESTS, ...DELIVERIES };
