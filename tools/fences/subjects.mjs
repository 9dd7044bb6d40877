/** A word with a capital begins a sentence; in quotation marks or backticks it is only mentioned. */
const BEGINNING = /(?<![\w"'`“-])(?:Who|Whoever|Whatever|Nobody|Somebody)\b(?![\w"'`”-])/g;

/** A comment's sentence begins with the thing that acts: "The caller that asks …", not "Who asks …". */
export const subjects = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { pronoun: 'A sentence begins with "{{word}}": name the thing that acts instead.' },
  },
  create: ({ report, sourceCode }) => ({
    Program() {
      for (const { loc, value } of sourceCode.getAllComments()) {
        for (const [word] of value.matchAll(BEGINNING)) report({ loc, messageId: 'pronoun', data: { word } });
      }
    },
  }),
};
