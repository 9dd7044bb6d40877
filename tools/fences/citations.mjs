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

const NUMBER = String.raw`\d+(?:\.\d+)*\b`;
/** Between two numbers of one list. */
const NEXT = String.raw`(?:, and |, | and | or | to |; |–)(?:sections? )?`;
const NUMBERS = new RegExp(NUMBER, 'g');
/** A book, and the numbers behind it: one, or a list such as "sections 1.2, 1.3 and 2.1". */
const CITATION = new RegExp(
  String.raw`\b(wire contract|API decisions|ADR)s?\b(?:,? (?:sections? )?(${NUMBER}(?:${NEXT}${NUMBER})*))?`,
  'g',
);
/** Books that are not in the repository, in the forms in which such have been cited. */
const UNKNOWN = [
  /\brunning contract\b/gi,
  /\b(?:design|house rules|specification|spec|brief|(?<!API )decisions),? (?:sections? \d|§|["“])/gi,
  /\((?:see )?(?:the )?(?:design|specification|brief)\b[^)]*\)/gi,
];

/** What a citation names and `docs/` does not have. Without any number it names a whole book. */
function missingOf([, book, numbers], isSectionNeeded) {
  if (numbers === undefined) return isSectionNeeded ? [book] : [];
  const cited = [...numbers.matchAll(NUMBERS)].map(([number]) => number);
  return cited.filter((number) => !BOOKS.get(book).has(number)).map((number) => `${book} ${number}`);
}

/**
 * What a text cites that cannot be read in `docs/`, and where in the text.
 *
 * @param {string} text in one line
 * @param {boolean} isSectionNeeded whether a book without a section is no citation: comments name what they mean, while a
 *   page may speak of a book as a whole
 */
export const unreadable = (text, isSectionNeeded) => [
  ...[...text.matchAll(CITATION)].flatMap((match) =>
    missingOf(match, isSectionNeeded).map((cited) => ({ cited, at: match.index })),
  ),
  ...UNKNOWN.flatMap((book) => [...text.matchAll(book)].map(({ 0: cited, index }) => ({ cited, at: index }))),
];

/** A comment as one line, without the stars at the beginning of its lines. */
const lineOf = ({ value }) => value.replaceAll(/\s*\n\s*\*?\s*/g, ' ');

/** What a comment cites must be there to be read: a page of `docs/` with a section of that number, or a decision. */
export const citations = {
  meta: { type: 'problem', schema: [], messages: { missing: '{{cited}} is not in docs/.' } },
  create: ({ report, sourceCode }) => ({
    Program() {
      for (const comment of sourceCode.getAllComments()) {
        for (const { cited } of unreadable(lineOf(comment), true)) {
          report({ loc: comment.loc, messageId: 'missing', data: { cited } });
        }
      }
    },
  }),
};
