/** The rules that hold for every operation. */
export const DESCRIPTION = `Jobs of an endpoint: submitted, waited for, read, streamed, cancelled. The addresses stand in \`requestUrls\` of an
endpoint of the management API.

## Keys
Every request carries \`Authorization: Bearer <API_KEY>\`, or the key alone. A missing, malformed, expired or unknown key is 401.
Each operation names the scope that it needs; a key without it, or one limited to other endpoints of its account, is 403.

## Errors
Every success is 200. Errors are \`application/problem+json\`; their \`type\` is a page that ends in the code to branch on, \`error\`
repeats \`detail\`, and there is no \`status\`, which clients would take for that of a job. Unknown, foreign, expired and purged
are one and the same 404. Under \`openai\` errors are those of OpenAI.

## Trying again
An answer with \`Retry-After\` says after how many seconds. What makes jobs takes \`Idempotency-Key\`.

## Values
Times and counts are integers, durations are milliseconds, instants ISO 8601 in UTC. \`input\` and \`output\` pass byte for byte.
Answers may get new members: ignore those that you do not know.
`;

export const TAGS: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'Jobs', description: 'One job: submitted, read, cancelled, tried again.' },
  { name: 'Streams', description: 'What a job says while it runs.' },
  { name: 'Queue', description: 'All jobs of an endpoint at once.' },
  { name: 'History', description: 'Which jobs there are and were, and what became of their webhooks.' },
  { name: 'OpenAI', description: "For clients of OpenAI's interface." },
];
