export { jobOfLine, noteJobEnd, noteJobStart, type JobSpan } from './job-of-line.js';
export { admitLines, fullAllowance, type LineAllowance } from './line-allowance.js';
export { LOG_LINE_CHARACTERS_MAX, LOG_SOURCES, type LogLine, type LineSource } from './log-line.js';
export {
  LOG_LINE_AT_MAX_MS,
  LOG_SEQUENCE_MAX,
  formatLogPlace,
  readLogPlace,
  readSince,
  type WorkerLogPlace,
} from './log-place.js';
export { spoolsToTrim, type SpoolBounds, type SpoolSegment } from './spool-trim.js';
export { describeAbsence, describeChange, describeDropped, describeEnd } from './system-lines.js';
