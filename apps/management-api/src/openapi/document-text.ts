import type { ApiDocument } from '@berth/http';

/** The text that holds for every operation. */
export const MANAGEMENT_DESCRIPTION = `Endpoints with their workers and releases, templates, registries, network volumes, clusters and pods, the catalog of
hardware, and for operators accounts, API keys and hosts. Jobs are sent to the addresses in \`requestUrls\` of an endpoint,
which the job API's own document describes, \`/job-openapi.json\` beside this one.

## Keys
Every request carries \`Authorization: Bearer <API_KEY>\`. A missing, malformed, expired or unknown key is 401. Each operation
names the scope that it needs; \`X:*\` in a key means \`X:read\` and \`X:write\`. A key without it, or a key limited to other
endpoints, is 403. A revoked key is refused by every process within 2 s.

A key that is limited to some endpoints reaches those alone: lists leave the others out, and it creates none (403). Of the
account's keys it sees, makes and revokes those that reach no others. Its other scopes count for the whole account.

## Problems
Errors are \`application/problem+json\`. Their \`type\` is a page that says what happened and how to mend it, and ends in the code
to branch on; \`instance\` is the id under which the log knows the request. Unknown ids and ids of other accounts get one and
the same 404.

Checks, the first group that fails answers:

1. malformed JSON, no body, or no object: 400;
2. the schema: 422, with every failure in \`errors\` as \`$.path: reason\`; unknown members are failures;
3. rules between fields: 400;
4. what the body refers to: 400 for catalogs (pools, GPU types, CPU flavors), 404 for resources.

## Limits
Each account has so many requests in a minute, an hour and a day. Answers to a good key tell what is left in \`RateLimit\` and
\`RateLimit-Policy\`; over a limit the answer is 429 with \`Retry-After\`.

## Trying again, and changing what others change
A create takes \`Idempotency-Key\`: within 24 h the same key gives the same answer again, with \`Idempotency-Replayed: true\`, and
the same key with another body is 409. A read shows its version as \`ETag\`; a change with \`If-Match\` of another version is 412.
A 503 may be tried again after \`Retry-After\`.

## Values
Instants are ISO 8601 in UTC. Lists come whole, oldest first unless they say otherwise. Answers may get new members: ignore
those that you do not know.
`;

const TAGS: Readonly<Record<string, string>> = {
  Endpoints: 'What users configure: image, hardware, scaling, and the addresses that take requests.',
  Workers: 'The containers of an endpoint, why they are in their state, and why others are not there.',
  Releases: 'What has been changed in an endpoint, and how far it has been rolled out.',
  'Webhook secrets': 'What proves to a receiver that a webhook is ours.',
  Templates: 'Containers described once, to make endpoints and pods from.',
  Registries: 'Credentials for private images.',
  'Network volumes': 'Disks that outlive workers and pods.',
  Catalog: 'Hardware, data centers and public templates to choose from.',
  Clusters: 'Groups of pods that are placed together.',
  Pods: 'Containers that run until they are ended.',
  Usage: 'What workers have used of time and GPUs.',
  'API keys': 'Who may do what. A key cannot grant what it lacks itself.',
  Accounts: 'Tenants, for operators.',
  Hosts: 'Machines that run workers, for operators.',
  Audit: 'Who changed what, and when, for operators.',
  Problems: 'The pages that problems point to.',
};

/** Describes the tags that are used, in the order of the table. */
export function describeTags(document: ApiDocument): ApiDocument {
  const used = new Set(
    Object.values(document.paths)
      .flatMap((operations) => Object.values(operations))
      .flatMap(({ tags = [] }) => tags),
  );
  const tags = Object.entries(TAGS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
  return { ...document, tags };
}
