import { wordsOfFailure, type ConnectionFailure } from '../../connections/index.js';
import { wrong, type Finding } from '../finding.js';

export interface Target {
  readonly area: Finding['area'];
  /** Such as `broker nats-1:4222`. */
  readonly what: string;
  /** The setting that names it. */
  readonly setting: string;
}

/** Says what kept somebody from connecting, and what mends it. */
export function judgeFailure({ area, setting, what }: Target, failure: ConnectionFailure): Finding {
  const { mend, says } = wordsOfFailure(setting, failure);
  return wrong(area, `${what}: ${says}`, mend);
}
