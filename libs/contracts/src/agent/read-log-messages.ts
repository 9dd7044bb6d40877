import { LOG_LINE_CHARACTERS_MAX, LOG_SOURCES, type LogLine } from '@berth/domain';
import {
  amount,
  count,
  id,
  integer,
  listOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  readMembers,
  text,
  type Members,
  type Reading,
} from '@berth/domain/shape';
import {
  LOG_ANSWER_BYTES_MAX,
  LOG_CURSORS_MAX,
  LOG_HOLD_MAX_MS,
  LOG_LINES_MAX,
  LOG_TAIL_MAX,
  type LogCursor,
  type WorkerLogPage,
  type LogsReply,
  type LogsRequest,
} from './log-messages.js';

const INSTANT_MAX_MS = 8.64e15;

const instantMs = amount(INSTANT_MAX_MS);

const LOGS_REQUEST: Members<LogsRequest> = {
  endpointId: id,
  cursors: listOf(objectOf<LogCursor>({ workerId: id, after: orNull(count) }), LOG_CURSORS_MAX, 1),
  tail: optional(integer(0, LOG_TAIL_MAX)),
  sinceMs: optional(instantMs),
  source: optional(oneOf(LOG_SOURCES)),
  jobId: optional(id),
  maxBytes: integer(1, LOG_ANSWER_BYTES_MAX),
  waitMs: integer(0, LOG_HOLD_MAX_MS),
};

const logLine = objectOf<LogLine>({
  sequence: count,
  atMs: instantMs,
  source: oneOf(LOG_SOURCES),
  line: text(LOG_LINE_CHARACTERS_MAX),
  jobId: optional(id),
});

const logPage = objectOf<WorkerLogPage>({
  workerId: id,
  state: oneOf(['unknown', 'open', 'ended']),
  lines: listOf(logLine, LOG_LINES_MAX),
  next: count,
  missing: count,
});

export const readLogsRequest = (body: unknown): Reading<LogsRequest> => readMembers(LOGS_REQUEST, body);

/** Whole or not at all: a host that tells nonsense of one worker is believed in nothing. */
export const readLogsReply = (body: unknown): Reading<LogsReply> =>
  readMembers<LogsReply>({ pages: listOf(logPage, LOG_CURSORS_MAX) }, body);
