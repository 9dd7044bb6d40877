import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const DOCS = join(import.meta.dirname, '../../docs');
const HEADING = /^#{2,3} (\d+(?:\.\d+)?)\.? /gm;

/** The numbers of a page's sections. */
const sectionsOf = (page) =>
  new Set([...readFileSync(join(DOCS, page), 'utf8').matchAll(HEADING)].map(([, number]) => number));

/** What may be cited, by the words that cite it. */
const BOOKS = new Map([
  ['wire contract', sectionsOf('wire-contract.md')],
  ['API decisions', sectionsOf('api-decisions.md')],
  ['ADR', new Set(readdirSync(join(DOCS, 'decisions')).map((name) => name.slice(0, 4)))],
]);

const CITATION = /\b(wire contract|API decisions|ADR)\b(?:,? (\d+(?:\.\d+)?))?/g;

/** A comment as one line, without the stars at the beginning of its lines. */
const lineOf = ({ value }) => value.replaceAll(/\s*\n\s*\*?\s*/g, ' ');

/** What a comment cites must be there to be read: a page of `docs/` with a section of that number, or a decision. */
export const citations = {
  meta: { type: 'problem', schema: [], messages: { missing: '{{cited}} is not in docs/.' } },
  create: ({ report, sourceCode }) => ({
    Program() {
      for (const comment of sourceCode.getAllComments()) {
        for (const [cited, book, section] of lineOf(comment).matchAll(CITATION)) {
          if (!BOOKS.get(book).has(section)) report({ loc: comment.loc, messageId: 'missing', data: { cited } });
        }
      }
    },
  }),
};
