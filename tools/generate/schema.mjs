/**
 * Writes the database schema that the migrations make to `schema.golden.sql`, so that a review sees what a migration
 * changes. Run it after `npm run build`; a test compares the file with what the migrations really make.
 */
import { createDataSource } from '../../apps/management-api/dist/persistence/data-source.js';
import { describeSchema } from '../../apps/management-api/dist/persistence/describe-schema.js';
import { migrate } from '../../apps/management-api/dist/persistence/migrate.js';
import { makeTempFolder, startPostgres } from '../servers/dist/index.js';
import { keepGenerated } from './generated-file.mjs';

const GOLDEN = new URL('../../apps/management-api/src/persistence/schema.golden.sql', import.meta.url);

const folder = await makeTempFolder('berth-schema');
const server = await startPostgres({ dataDir: folder.path });
try {
  const url = await server.createDatabase('schema');
  const source = await createDataSource({ url, applicationName: 'berth-schema', poolMax: 2 }).initialize();
  await migrate(source);
  await keepGenerated(GOLDEN, await describeSchema(source), 'npm run db:schema');
  await source.destroy();
} finally {
  await server.kill();
  await folder.remove();
}
