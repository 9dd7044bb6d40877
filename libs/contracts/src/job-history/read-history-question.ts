import { INSTANT_MAX_MS, JOB_STATES, type PageKey } from '@berth/domain';
import {
  amount,
  id,
  integer,
  listOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  readShape,
  type Reading,
} from '@berth/domain/shape';
import { HISTORY_PAGE_MAX, type HistoryGetRequest, type HistoryListRequest } from './history-messages.js';

const listRequest = objectOf<HistoryListRequest>({
  accountId: id,
  endpointId: id,
  statuses: listOf(oneOf(JOB_STATES), JOB_STATES.length),
  before: optional(orNull(objectOf<PageKey>({ createdAtMs: amount(INSTANT_MAX_MS), jobId: id }))),
  limit: integer(1, HISTORY_PAGE_MAX),
});

const getRequest = objectOf<HistoryGetRequest>({ accountId: id, endpointId: id, jobId: id });

export const readHistoryListRequest = (body: unknown): Reading<HistoryListRequest> => readShape(listRequest, body);
export const readHistoryGetRequest = (body: unknown): Reading<HistoryGetRequest> => readShape(getRequest, body);
