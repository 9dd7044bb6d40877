/**
 * Writes the database schema that the migrations make to `schema.golden.sql`, so that a review sees what a migration
 * changes, and their names to where `berth doctor` compares them with those that have run. Run it after `npm run build`; a
 * test compares the schema with what the migrations really make.
 */
import { createDataSource } from '../../apps/management-api/dist/persistence/data-source.js';
import { describeSchema } from '../../apps/management-api/dist/persistence/describe-schema.js';
import { migrate } from '../../apps/management-api/dist/persistence/migrate.js';
import { makeTempFolder, startPostgres } from '../servers/dist/index.js';
import { format } from 'prettier';
import { keepGenerated } from './generated-file.mjs';

const GOLDEN = new URL('../../apps/management-api/src/persistence/schema.golden.sql', import.meta.url);

const NAMES = new URL('../../apps/berth/src/doctor/schema-migrations.ts', import.meta.url);

/** @param {readonly string[]} names */
const namesFile = (
  names,
) => `/** The migrations that this version knows, in their order (\`npm run db:schema\` writes this file). */
export const SCHEMA_MIGRATIONS: readonly string[] = ${JSON.stringify(names)};
`;

const folder = await makeTempFolder('berth-schema');
const server = await startPostgres({ dataDir: folder.path });
try {
  const url = await server.createDatabase('schema');
  const source = await createDataSource({ url, applicationName: 'berth-schema', poolMax: 2 }).initialize();
  await migrate(source);
  await keepGenerated(GOLDEN, await describeSchema(source), 'npm run db:schema');
  const names = source.migrations.map(({ constructor, name = constructor.name }) => name);
  const told = await format(namesFile(names), { parser: 'typescript', printWidth: 120, singleQuote: true });
  await keepGenerated(NAMES, told, 'npm run db:schema');
  await source.destroy();
} finally {
  await server.kill();
  await folder.remove();
}
