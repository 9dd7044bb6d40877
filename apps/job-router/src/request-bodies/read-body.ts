import { PlatformError, type ErrorCode } from '@berth/domain';
import { parseJobRequest, parseJobRequests, type JobRequest, type WebhookRules } from './job-request.js';
import { readOpenAiRequest, type OpenAiRequest } from './openai-request.js';

/** A body and what it is to be read as. */
export type RequestBodyAsk =
  | { readonly form: 'job' | 'batch'; readonly body: string }
  | { readonly form: 'openai'; readonly body: string; readonly method: string; readonly url: string };

/** The outcome of a body of each form: text and plain values, which a thread can hand over. */
export interface BodyForms {
  readonly job: JobRequest;
  readonly batch: readonly JobRequest[];
  readonly openai: OpenAiRequest;
}

export type ReadBody = BodyForms[keyof BodyForms];

/** @throws PlatformError as the form's own reader */
export function readRequestBody(ask: RequestBodyAsk, webhooks: WebhookRules): ReadBody {
  switch (ask.form) {
    case 'job':
      return parseJobRequest(ask.body, webhooks);
    case 'batch':
      return parseJobRequests(ask.body, webhooks);
    case 'openai':
      return readOpenAiRequest(ask.method, ask.url, ask.body);
    default:
      return ask satisfies never;
  }
}

/** The answer of a thread about a body. An error would lose its code on the way. */
export type RequestBodyAnswer =
  | { readonly kind: 'read'; readonly value: ReadBody }
  | {
      readonly kind: 'refused';
      readonly code: ErrorCode;
      readonly detail: string;
      readonly errors: readonly string[] | undefined;
    };

/** @throws what is no refusal, and ends the thread */
export function answerBody(ask: RequestBodyAsk, webhooks: WebhookRules): RequestBodyAnswer {
  try {
    return { kind: 'read', value: readRequestBody(ask, webhooks) };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return { kind: 'refused', code: error.code, detail: error.message, errors: error.errors };
  }
}
