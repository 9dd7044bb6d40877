/**
 * Writes `docs/compatibility.md` from what the tests of the published clients and worker SDKs saw. Run them first:
 * `npm run jest -- tools/dev-stack/test/clients apps/worker-agent/test/bridge/sdk-matrix`.
 */
import { readFile } from 'node:fs/promises';
import { format } from 'prettier';
import { keepGenerated } from './generated-file.mjs';

const FILE = new URL('../../docs/compatibility.md', import.meta.url);

/**
 * @typedef {{ versions: string[], features: { title: string, differs: Record<string, string> }[] }} Matrix
 * An empty text: it works. No text: there is no such thing in that version.
 */

/** @param {string} name */
const read = async (name) =>
  /** @type {Matrix} */ (JSON.parse(await readFile(new URL(`../../.cache/${name}.json`, import.meta.url), 'utf8')));

/** @param {Matrix} matrix */
function tableOf({ features, versions }) {
  const notes = /** @type {string[]} */ ([]);
  const cell = (/** @type {string | undefined} */ text) => {
    if (text === undefined) return '–';
    if (text === '') return 'yes';
    if (!notes.includes(text)) notes.push(text);
    return `yes, ${notes.indexOf(text) + 1}`;
  };
  const rows = features.map(({ differs, title }) => [title, ...versions.map((version) => cell(differs[version]))]);
  const lines = [['', ...versions], ['', ...versions].map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  return [...lines, '', ...notes.map((note, index) => `${index + 1}. ${note}`)].join('\n');
}

const text = `# Compatibility

Published clients and worker SDKs run unmodified, with one changed URL. Both tables are made by the tests that run them
(\`npm run compatibility\` writes this page); a cell that says yes is an assertion that held.

## Clients

${tableOf(await read('client-matrix'))}

The Go client's module is not to be had where Go modules come from, so the test makes its exact calls: verbs, headers,
queries, and answers that its types can read. The client itself, built from its public source, was put through the same
operations by hand.

The OpenAI client for Python is tested against \`/openai/v1\` with the sample worker \`python-openai\`.

## Worker SDKs

${tableOf(await read('sdk-matrix'))}
`;

await keepGenerated(FILE, await format(text, { parser: 'markdown', printWidth: 120 }), 'npm run compatibility');
