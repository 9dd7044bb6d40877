/**
 * Writes the interface of the management API to `docs/wire/openapi.json`, from the declarations in its controllers and
 * bodies. Run it after `npm run build`; a test compares the file with what the code says.
 */
import { generateOpenApi } from '../../apps/management-api/dist/openapi/generate-openapi.js';
import { keepGenerated } from './generated-file.mjs';

const FILE = new URL('../../docs/wire/openapi.json', import.meta.url);

await keepGenerated(FILE, await generateOpenApi(), 'npm run openapi');
