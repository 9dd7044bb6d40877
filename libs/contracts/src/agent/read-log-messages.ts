import {
  LOG_LINE_AT_MAX_MS,
  LOG_LINE_CHARACTERS_MAX,
  LOG_SEQUENCE_MAX,
  LOG_SOURCES,
  cleanPrinted,
  type LogLine,
} from '@berth/domain';
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
  readAs,
  readMembers,
  shapeOf,
  text,
  unreadable,
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

/** The broker takes no message that is larger; what is longer than a line may be is cut. */
const TOLD_CHARACTERS_MAX = 2 * 2 ** 20;

const linePlace = integer(0, LOG_SEQUENCE_MAX);

const LOG_LINE: Members<LogLine> = {
  sequence: linePlace,
  atMs: amount(LOG_LINE_AT_MAX_MS),
  source: oneOf(LOG_SOURCES),
  line: text(TOLD_CHARACTERS_MAX),
  jobId: optional(id),
};

const LOG_PAGE: Members<WorkerLogPage> = {
  workerId: id,
  state: oneOf(['unknown', 'open', 'ended']),
  lines: shapeOf('a list', Array.isArray),
  next: linePlace,
  missing: linePlace,
};

export const readLogsRequest = (body: unknown): Reading<LogsRequest> => readMembers(LOGS_REQUEST, body);

/** Lines of all pages together. */
const LINES_IN_ALL_MAX = LOG_LINES_MAX + LOG_CURSORS_MAX;

/**
 * Line by line and page by page: what is wrong with one is no reason to hear nothing of the others, and is not told on.
 * Texts are as clean as an honest agent keeps them. What there is no room for is asked for again.
 */
export function readLogsReply(body: unknown): Reading<LogsReply> {
  const { pages } = (body ?? {}) as { readonly pages?: unknown };
  if (!Array.isArray(pages)) return unreadable('$.pages must be a list');
  const taken: WorkerLogPage[] = [];
  let room = LINES_IN_ALL_MAX;
  for (const told of pages.slice(0, LOG_CURSORS_MAX) as readonly unknown[]) {
    const page = readMembers<WorkerLogPage>(LOG_PAGE, told);
    if (page.kind === 'unreadable') continue;
    const within = linesWithin(page.value, room);
    room -= Math.min(room, page.value.lines.length);
    if (within !== null) taken.push(within);
  }
  return readAs({ pages: taken });
}

/**
 * The page with what can be read of its lines. Those that cannot take up room too: looking at them has its price.
 *
 * @returns null where there is room for none of its lines
 */
function linesWithin(page: WorkerLogPage, room: number): WorkerLogPage | null {
  const lines: LogLine[] = [];
  let last = 0;
  for (const told of page.lines.slice(0, room) as readonly unknown[]) {
    const line = readMembers<LogLine>(LOG_LINE, told);
    if (line.kind === 'unreadable' || line.value.sequence <= last || line.value.sequence > page.next) continue;
    last = line.value.sequence;
    lines.push({ ...line.value, line: cleanPrinted(line.value.line, LOG_LINE_CHARACTERS_MAX) });
  }
  if (page.lines.length <= room) return { ...page, lines };
  // A reader that went on behind lines which nobody looked at would never be told them.
  return lines.length === 0 ? null : { ...page, lines, next: last, state: 'open' };
}
