import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ApiDocument } from '@berth/http';
import { DocumentSchemas } from '@berth/testing/contract';
import { expect, test } from '@jest/globals';
import { parseJobRequest, parseJobRequests } from '../src/request-bodies/job-request.js';

const FIXTURES = resolve(import.meta.dirname, '../../../libs/contracts/fixtures');
const DOCUMENT = resolve(import.meta.dirname, '../../../docs/wire/job-openapi.json');
const ERRORS: readonly string[] = ['JobProblem', 'OpenAiError'];

const document = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as ApiDocument;
const open = new DocumentSchemas(document);
const closed = new DocumentSchemas(document, { isClosed: true });

const fixtures = readdirSync(FIXTURES).flatMap((version) =>
  readdirSync(join(FIXTURES, version, 'jobs')).map((file) => {
    const text = readFileSync(join(FIXTURES, version, 'jobs', file), 'utf8');
    return { version, name: file.replace('.json', ''), text, body: JSON.parse(text) as object };
  }),
);

/** Every component that is by itself the body of a request or of an answer. */
const bodiesOf = ({ paths }: ApiDocument): readonly string[] => {
  const bodies = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .map(({ requestBody, responses }) => JSON.stringify([requestBody, responses]));
  const names = [...bodies.join().matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
  return [...new Set(names)].filter((name) => !ERRORS.includes(name)).toSorted();
};

test('there is a fixture of every body of the job API', () => {
  expect(fixtures.filter(({ version }) => version === 'v1').map(({ name }) => name)).toEqual(bodiesOf(document));
});

test.each(fixtures)('$name of $version is as described, with every member that it may have', ({ name, body }) => {
  const failures = (schemas: DocumentSchemas, value: unknown): readonly string[] =>
    schemas.failures(['components', 'schemas', name], value);
  expect(failures(closed, body)).toEqual([]);
  const described = Object.keys(document.components.schemas[name]?.properties ?? {});
  if (described.length > 0) expect(Object.keys(body)).toEqual(expect.arrayContaining(described));
  const required = document.components.schemas[name]?.required ?? [];
  const withoutMember = (member: string): object => ({ ...body, [member]: undefined });
  for (const member of required) expect([member, ...failures(open, withoutMember(member))]).not.toEqual([member]);
});

const requestsOf = (wanted: string): typeof fixtures => fixtures.filter(({ name }) => name === wanted);

test.each(requestsOf('JobRequest'))('a request of $version is read whole', ({ text, body }) => {
  const { input, extras, secretExtras, ...settings } = parseJobRequest(text);
  const { input: sent, s3Config, ...others } = body as Readonly<Record<string, unknown>>;
  expect([input, extras, secretExtras].map((part) => JSON.parse(part ?? 'null') as unknown)).toEqual([
    sent,
    others,
    { s3Config },
  ]);
  expect(settings).toEqual({
    webhook: 'https://hooks.example.com/jobs',
    executionTimeoutMs: 300_000,
    ttlMs: 3_600_000,
    isLowPriority: true,
  });
});

test.each(requestsOf('JobBatch'))('each request of a batch of $version is read', ({ text, body }) => {
  const { requests } = body as { readonly requests: readonly { readonly input: unknown }[] };
  expect(parseJobRequests(text).map(({ input }) => JSON.parse(input) as unknown)).toEqual(
    requests.map(({ input }) => input),
  );
});
