import type { ServerResponse } from 'node:http';
import type { AssignedWorker } from '@berth/contracts';
import type { EndpointId } from '@berth/domain';
import { statusClass } from '@berth/http';
import type { ExchangeOutcome } from '../exchange/exchange-outcome.js';

export type AnswerHead = Pick<ServerResponse, 'headersSent' | 'statusCode'>;

/** What became of a request. */
export interface VisitEnd {
  readonly outcome: ExchangeOutcome;
  /** Null: it was let to none. */
  readonly endpointId: EndpointId | null;
  /** The worker that had it; null: none. */
  readonly worker: Pick<AssignedWorker, 'id' | 'hostId'> | null;
}

/** As its caller got it; null: there was no answer. */
export function statusOf(outcome: ExchangeOutcome, { headersSent, statusCode }: AnswerHead): number | null {
  switch (outcome.kind) {
    case 'answered':
      return outcome.status;
    case 'upgraded':
      return 101;
    case 'caller-gone':
    case 'failed':
      return headersSent ? statusCode : null;
  }
}

/** One of a few words. */
export function labelOf(outcome: ExchangeOutcome): string {
  switch (outcome.kind) {
    case 'answered':
      return statusClass(outcome.status);
    case 'upgraded':
      return 'websocket';
    case 'caller-gone':
      return 'caller-gone';
    case 'failed':
      return outcome.code;
  }
}
