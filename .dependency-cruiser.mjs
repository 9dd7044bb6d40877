const SPECS = '\\.(spec|conformance)\\.ts$';
const TEST_FOLDERS = '^(apps|libs|tools)/[^/]+/test/';

export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Imports run downhill. Types count too: two files that name each other are one file, or need a third.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'A file that imports nothing and that nobody imports is dead, or is missing from its index.',
      from: {
        orphan: true,
        // A package that has only its door so far, the configuration that tools find by name, programs that are forked.
        pathNot: [
          '^(libs|tools)/[^/]+/src/index\\.ts$',
          '/main\\.ts$',
          '^tools/bench/src/peers/',
          '\\.d\\.m?ts$',
          '\\.mjs$',
        ],
      },
      to: {},
    },
    {
      name: 'rooms-have-doors',
      severity: 'error',
      comment: 'A room of an app is entered through its index, which names one by one what others may take.',
      from: { path: '^apps/([^/]+)/src/([^/]+)' },
      to: {
        path: '^apps/$1/src/[^/]+/',
        pathNot: ['^apps/$1/src/$2/', '^apps/$1/src/[^/]+/index\\.ts$'],
      },
    },
    {
      name: 'messages-need-no-http',
      severity: 'error',
      comment: 'The bodies of HTTP load Nest and a validator: only what speaks HTTP takes @berth/contracts/http.',
      from: {
        path: '^(apps|libs)/',
        pathNot: ['^apps/(management-api|job-router)/', '^libs/(http|testing)/', '^libs/contracts/src/http/'],
      },
      to: { path: '^libs/contracts/src/http/' },
    },
    {
      name: 'no-specs-in-production',
      severity: 'error',
      comment: 'What ships must not need what tests it.',
      from: { path: '^(apps|libs|tools)/', pathNot: [SPECS, TEST_FOLDERS, '^libs/testing/'] },
      to: { path: [SPECS, TEST_FOLDERS, '^libs/testing/'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|coverage)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'node', 'default'],
      mainFields: ['types', 'module', 'main'],
    },
    reporterOptions: {
      mermaid: { minify: false },
    },
  },
};
