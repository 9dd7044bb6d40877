import { PROBLEMS } from '@berth/http';
import { expect } from '@jest/globals';
import type { WireAnswer } from './wire.js';

const BASE = 'https://api.example.com/docs/problems/';
/** What only the inside of the program could have said. */
const INSIDES = /node_modules|QueryFailedError|syntax error at or near|invalid byte sequence|\n\s+at |file:\/\/\/work/;

/** What the answer has instead of what every answer has to have; empty when it is one of ours. */
export function oddities({ headers, status, text }: WireAnswer, { isHead = false } = {}): readonly string[] {
  if (status >= 500) return [`status ${status}: ${text}`];
  if (INSIDES.test(text)) return [`it tells of the inside: ${text}`];
  if (status < 400 || isHead) return [];
  if (headers['content-type'] !== 'application/problem+json; charset=utf-8') {
    return [`status ${status} with content type ${String(headers['content-type'])}: ${text}`];
  }
  return problemOddities(JSON.parse(text) as Record<string, unknown>, { headers, status, text });
}

function problemOddities(problem: Record<string, unknown>, { headers, status, text }: WireAnswer): readonly string[] {
  const code = String(problem['type']).slice(BASE.length);
  const known = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code as keyof typeof PROBLEMS] : null;
  const wanted = {
    type: `${BASE}${code}`,
    title: known?.title,
    status: known?.status,
    detail: expect.stringMatching(/\S/),
    ...('errors' in problem ? { errors: expect.any(Array) } : {}),
    ...('message' in problem ? { message: problem['detail'] } : {}),
    instance: headers['x-request-id'],
  };
  try {
    expect({ ...problem, answered: status }).toEqual({ ...wanted, answered: known?.status });
    return [];
  } catch {
    // The differences as the matcher tells them would be a page for each of thousands of requests.
    return [`status ${status} with another shape: ${text}`];
  }
}
