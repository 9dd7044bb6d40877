import type { CountedEnd } from '@berth/domain';

export const COUNTED_OUTCOMES: readonly CountedEnd['outcome'][] = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'];
