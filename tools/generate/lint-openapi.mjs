/** Holds both interfaces in `docs/wire` against the rules of `redocly.yaml`. Any finding ends it with the status 1. */
import { formatProblems, getTotals, lint, loadConfig } from '@redocly/openapi-core';

const config = await loadConfig({ configPath: 'redocly.yaml' });

for (const ref of ['docs/wire/openapi.json', 'docs/wire/job-openapi.json']) {
  const problems = await lint({ ref, config });
  const totals = getTotals(problems);
  formatProblems(problems, { format: 'stylish', totals, version: '' });
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`${ref} keeps the rules.`);
}
