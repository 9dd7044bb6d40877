import { STATUS_CODES } from 'node:http';

const [FIRST, LAST] = [100, 599];

/** One of five. A status that is none of HTTP's is an error to every client (RFC 9110, 15). */
export const statusClass = (status: number): string =>
  status < FIRST || status > LAST ? '5xx' : `${Math.floor(status / 100)}xx`;

/** Workers may answer with any number, and each label is a series for good: only registered ones stand for themselves. */
export const statusLabel = (status: number): string =>
  STATUS_CODES[status] === undefined ? statusClass(status) : String(status);
