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

const exportsOf = ({ body }) =>
  body.filter(({ type }) => type === 'ExportNamedDeclaration').flatMap(({ declaration }) => declaration ?? []);

const exportedClasses = (program) => exportsOf(program).filter(({ type }) => type === 'ClassDeclaration');

/** What is exported and could be called: a name with the function that it stands for. */
const exportedFunctions = (program) =>
  exportsOf(program).flatMap((declared) => {
    if (declared.type === 'FunctionDeclaration') return [declared];
    return (declared.declarations ?? []).flatMap(({ init }) =>
      init?.type === 'ArrowFunctionExpression' || init?.type === 'FunctionExpression' ? [init] : [],
    );
  });

const isDecoratorType = (node) => /Decorator$/.test(node?.typeAnnotation?.typeName?.name ?? '');

/** A decorator with parameters is a function of which the type says so; one of parameters is made by the framework. */
const exportsDecorator = (program) =>
  exportedFunctions(program).some(({ returnType }) => isDecoratorType(returnType)) ||
  exportsOf(program).some(({ declarations = [] }) =>
    declarations.some(
      ({ init }) => init?.type === 'CallExpression' && /Decorators?$/.test(nameOf({ expression: init })),
    ),
  );

/** The names of the classes whose members a loop decorates, because the members are those of a table. */
const decoratedInLoops = ({ body }) =>
  body
    .filter(({ type }) => type === 'ForOfStatement')
    .flatMap((loop) => loop.body.body ?? [])
    .flatMap(({ expression }) => expression?.arguments ?? [])
    .filter(({ property }) => property?.name === 'prototype')
    .map(({ object }) => object.name);

/** Each member of a shape of HTTP says what it is, by a decorator. */
const exportsShape = (program) => {
  const inLoops = decoratedInLoops(program);
  return exportedClasses(program).some(
    ({ body, id }) => inLoops.includes(id.name) || body.body.some(({ decorators }) => decorators?.length > 0),
  );
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
  ['store', (program) => exportedClasses(program).some(({ id }) => id.name.endsWith('Store'))],
  ['dto', exportsShape],
  ['body', exportsShape],
  ['mapper', (program) => exportedFunctions(program).length > 0 && classesOf(program).length === 0],
  ['decorator', exportsDecorator],
  ...['conformance', 'examples', 'main', 'spec'].map((suffix) => [suffix, anything]),
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
