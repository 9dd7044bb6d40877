/**
 * Writes the two interfaces to `docs/wire`, from the declarations in their controllers and bodies. Run it after
 * `npm run build`; tests compare the files with what the code says.
 */
import { generateJobOpenApi } from '../../apps/job-router/dist/openapi-document/generate-openapi.js';
import { generateOpenApi } from '../../apps/management-api/dist/openapi/generate-openapi.js';
import { keepGenerated } from './generated-file.mjs';

const WIRE = new URL('../../docs/wire/', import.meta.url);

await keepGenerated(new URL('openapi.json', WIRE), await generateOpenApi(), 'npm run openapi');
await keepGenerated(new URL('job-openapi.json', WIRE), await generateJobOpenApi(), 'npm run openapi');
