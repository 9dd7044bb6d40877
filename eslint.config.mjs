import js from '@eslint/js';
import nx from '@nx/eslint-plugin';
import prettier from 'eslint-config-prettier';
import { defineConfig } from 'eslint/config';
import globals from 'globals';
import { configs } from 'typescript-eslint';

import { citations } from './tools/fences/citations.mjs';
import { subjects } from './tools/fences/subjects.mjs';
import { suffixes } from './tools/fences/suffixes.mjs';

const TESTS = ['**/*.spec.ts', '**/*.conformance.ts', '{apps,libs,tools}/*/test/**/*.ts', 'libs/testing/**/*.ts'];

// --- Who may import whom ------------------------------------------------------------------------------------------

const LIBRARIES = ['layer:domain', 'layer:base', 'layer:contract', 'layer:engine', 'layer:adapter'];
const may = (sourceTag, onlyDependOnLibsWithTags, more = {}) => ({ sourceTag, onlyDependOnLibsWithTags, ...more });
const only = (app) => may(`scope:${app}`, ['scope:any', `scope:${app}`]);

/** `layer:testing` is named by nobody but the tests, which get it as an addition. */
const layers = (extra) => [
  may('layer:domain', extra, { allowedExternalImports: extra.length > 0 ? ['@jest/globals', 'fast-check'] : [] }),
  may('layer:base', ['layer:base', ...extra]),
  may('layer:contract', ['layer:domain', ...extra]),
  may('layer:engine', ['layer:domain', 'layer:contract', 'layer:base', ...extra]),
  may('layer:adapter', ['layer:domain', 'layer:contract', 'layer:engine', 'layer:base', ...extra], {
    bannedExternalImports: ['typeorm', '@nestjs/typeorm'],
  }),
  // The servers that the tests start are those of the development stack.
  may('layer:testing', [...LIBRARIES, 'layer:tool', 'layer:testing']),
  may('layer:app', [...LIBRARIES, ...extra]),
  may('layer:tool', [...LIBRARIES, 'layer:tool', ...extra]),
  may('scope:any', ['scope:any']),
  only('management'),
  only('router'),
  only('agent'),
  only('operator'),
];

// A library's specs use `testing`, and `testing` builds on every library: a circle between projects that no module closes.
const SPEC_CIRCLES = [
  'domain',
  'lifecycle',
  'telemetry',
  'contracts',
  'jobs',
  'endpoint-log',
  'messaging',
  'http',
  'broker-access',
  'servers',
].flatMap((project) => [
  [project, 'testing'],
  ['testing', project],
]);

const boundaries = (extra) => [
  'error',
  {
    // Nothing may be let through because a build configuration happens to name it.
    allow: [],
    enforceBuildableLibDependency: false,
    ignoredCircularDependencies: SPEC_CIRCLES,
    depConstraints: layers(extra),
  },
];

// --- What may not be written, and where it may ---------------------------------------------------------------------

const DEFAULT_EXPORT = {
  selector: 'ExportDefaultDeclaration',
  message: 'Named exports only: a name is the same in every file that uses it.',
};
const EXPORT_ALL = {
  selector: 'ExportAllDeclaration',
  message: 'List the names: an index is a door, not a hole in the wall.',
};
const ENVIRONMENT = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'The environment is parsed once, in config.ts; take a typed option.',
};
const NEW_DATE = {
  selector: "NewExpression[callee.name='Date'][arguments.length=0]",
  message: 'Time is an argument: take a Clock from @berth/lifecycle.',
};
const POSITIONS = {
  // A constructor is free: Nest hands it its dependencies by type, so their order carries no meaning.
  selector:
    ":matches(FunctionDeclaration, ArrowFunctionExpression, Property > FunctionExpression, MethodDefinition[kind!='constructor'] > FunctionExpression)[params.length>3]",
  message: 'At most three positional parameters: above that, names carry the meaning. Take an object.',
};
const ASYNC = {
  selector: ':matches(:function[async=true], AwaitExpression, ForOfStatement[await=true])',
  message: 'The domain is synchronous: effects live in the shells around it.',
};

const CLOCKS = ['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({
  name,
  message: 'Timers belong to the Clock of @berth/lifecycle.',
}));
const CLOCK_PROPERTIES = [
  { object: 'Date', property: 'now', message: 'Time is an argument: take a Clock from @berth/lifecycle.' },
  { object: 'performance', property: 'now', message: 'Take monotonicMs() of the Clock from @berth/lifecycle.' },
  { object: 'Math', property: 'random', message: 'Chance is an argument: take a Random from @berth/lifecycle.' },
  ...['setTimeout', 'setInterval', 'setImmediate'].map((property) => ({
    object: 'globalThis',
    property,
    message: 'Timers belong to the Clock of @berth/lifecycle.',
  })),
];
const ENVIRONMENT_IMPORT = {
  name: 'node:process',
  importNames: ['env', 'default'],
  message: 'The environment is parsed once, in config.ts.',
};
const CLOCK_IMPORTS = [
  { name: 'node:timers', message: 'Timers belong to the Clock of @berth/lifecycle.' },
  { name: 'node:timers/promises', message: 'Timers belong to the Clock of @berth/lifecycle.' },
  {
    name: 'node:crypto',
    importNames: ['randomUUID', 'randomInt'],
    message: 'Chance is an argument: take a Random from @berth/lifecycle.',
  },
];
const OUTER_WORLD = ['process', 'fetch', 'console', 'Buffer', 'queueMicrotask', 'performance', 'crypto'].map(
  (name) => ({
    name,
    message: 'The domain knows nothing of the machine it runs on.',
  }),
);
const OUTER_IMPORTS = { regex: '^[^.]', message: 'The domain imports nothing but itself.' };

/** An empty list would inherit the options of the block before it, so nothing restricted is said as `off`. */
const restrict = (...things) => (things.length > 0 ? ['error', ...things] : 'off');

/** The restricted-* rules replace one another from block to block, so each block gets all of them. */
const fences = ({ environment = true, clock = true, pure = false } = {}) => ({
  'no-restricted-syntax': [
    'error',
    DEFAULT_EXPORT,
    EXPORT_ALL,
    POSITIONS,
    ...(environment ? [ENVIRONMENT] : []),
    ...(clock ? [NEW_DATE] : []),
    ...(pure ? [ASYNC] : []),
  ],
  'no-restricted-globals': restrict(...(clock ? CLOCKS : []), ...(pure ? OUTER_WORLD : [])),
  'no-restricted-properties': restrict(...(clock ? CLOCK_PROPERTIES : [])),
  'no-restricted-imports': [
    'error',
    {
      paths: [...(environment ? [ENVIRONMENT_IMPORT] : []), ...(clock ? CLOCK_IMPORTS : [])],
      patterns: pure ? [OUTER_IMPORTS] : [],
    },
  ],
});

// --- The configuration ---------------------------------------------------------------------------------------------

export default defineConfig(
  { ignores: ['**/dist/', '**/coverage/', '.nx/', '.berth/', '.cache/', 'examples/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  { files: ['**/*.mjs'], languageOptions: { globals: globals.node } },
  {
    files: ['**/*.ts'],
    extends: [configs.recommendedTypeChecked],
    plugins: { '@nx': nx, berth: { rules: { citations, subjects, suffixes } } },
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      ...fences(),
      '@nx/enforce-module-boundaries': boundaries([]),
      'berth/citations': 'error',
      'berth/suffixes': 'error',

      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // It reads emitDecoratorMetadata from the program and leaves files with decorators alone, where an injected
      // class must stay a value.
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/prefer-readonly': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // Off: an async method without an await is how the memory twin of a port turns a throw into a rejection.
      '@typescript-eslint/require-await': 'off',

      // `!= null` is allowed: it says "neither null nor undefined" of what came off a wire.
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',

      // Budgets. Blank lines and comments are free: a doc comment must never be the reason to split a function.
      'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
      complexity: ['error', 10],
      'max-depth': ['error', 3],
    },
  },
  { files: ['libs/domain/src/**/*.ts'], ignores: TESTS, rules: fences({ pure: true }) },
  { files: ['{apps,libs}/*/src/**/*.ts'], ignores: TESTS, rules: { 'berth/subjects': 'error' } },
  // Where clocks are made: the machine's, and the one that tests turn by hand.
  { files: ['libs/lifecycle/src/**/*.ts', 'libs/testing/src/clock/**/*.ts'], rules: fences({ clock: false }) },
  { files: ['**/config.ts'], rules: fences({ environment: false }) },
  {
    files: TESTS,
    rules: {
      '@nx/enforce-module-boundaries': boundaries(['layer:testing']),
      // Off: a response's body is `any` to the test client, and the assertions are what checks its shape.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      // Off: expect(port.method) names the method, it does not call it.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    // Off: a test reads top to bottom as one story, and a migration is a list of statements.
    files: [...TESTS, '**/migrations/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      'max-lines': 'off',
      complexity: 'off',
      'max-depth': 'off',
    },
  },
  // Off: a door lists one name per line, and how many there are says nothing about it.
  { files: ['**/src/**/index.ts'], rules: { 'max-lines': 'off' } },
  prettier,
);
