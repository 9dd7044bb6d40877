import { basename } from 'node:path';

const SUFFIX = /\.([a-z]+)\.ts$/;

const classesOf = ({ body }) =>
  body.map((statement) => statement.declaration ?? statement).filter(({ type }) => type === 'ClassDeclaration');

const nameOf = ({ expression }) => (expression.callee ?? expression).name;

const decorated =
  (...names) =>
  (program) =>
    classesOf(program).some(({ decorators }) => decorators.some((decorator) => names.includes(nameOf(decorator))));

const implementing = (name) => (program) =>
  classesOf(program).some((declared) => declared.implements.some((each) => nameOf(each) === name));

/** Whether the statement does something, rather than saying what something looks like. */
const acts = (statement) => {
  const declared = statement.declaration ?? statement;
  switch (declared.type) {
    case 'FunctionDeclaration':
      return true;
    case 'ClassDeclaration':
      return !declared.abstract || declared.body.body.some(({ value }) => value?.type === 'FunctionExpression');
    case 'VariableDeclaration':
      return declared.declarations.some(({ init }) => /Function/.test(init?.type ?? ''));
    default:
      return false;
  }
};

const anything = () => true;

/** What a suffix promises, as a question to the file. A suffix that is not here promises nothing, so it may not be. */
const PROMISES = new Map([
  ['controller', decorated('Controller', 'AgentGateway')],
  ['module', decorated('Module')],
  ['service', decorated('Injectable')],
  ['filter', decorated('Catch')],
  ['pipe', implementing('PipeTransform')],
  ['interceptor', implementing('NestInterceptor')],
  ['entity', decorated('Entity')],
  ['port', ({ body }) => !body.some(acts)],
  ...['body', 'conformance', 'decorator', 'dto', 'examples', 'main', 'mapper', 'spec', 'store'].map((suffix) => [
    suffix,
    anything,
  ]),
]);

/** The suffix of a file says what is in it. */
export const suffixes = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      unknown: '`.{{suffix}}` is no suffix of files here.',
      broken: 'The file is not what `.{{suffix}}` says.',
    },
  },
  create: ({ filename, report }) => ({
    Program(node) {
      const [, suffix] = SUFFIX.exec(basename(filename)) ?? [];
      if (suffix === undefined) return;
      const keeps = PROMISES.get(suffix);
      if (keeps === undefined) report({ node, messageId: 'unknown', data: { suffix } });
      else if (!keeps(node)) report({ node, messageId: 'broken', data: { suffix } });
    },
  }),
};
