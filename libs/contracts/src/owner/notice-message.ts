import type { EndpointId, JobId } from '@berth/domain';

/**
 * Owner → one router, as the body of a `WireRequest` without an answer. A hint that may be lost: a waiting caller looks by
 * itself from time to time.
 */
export interface NoticeMessage {
  readonly endpointId: EndpointId;
  readonly jobs: readonly {
    readonly jobId: JobId;
    /** `gone`: removed, or its life is over. */
    readonly now: 'moved' | 'ended' | 'gone';
  }[];
}
