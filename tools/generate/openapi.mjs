/**
 * Writes the interface of the management API to `docs/wire/openapi.json`, from the declarations in its controllers and
 * bodies. Run it after `npm run build`; a test compares the file with what the code says.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { generateOpenApi } from '../../apps/management-api/dist/openapi/generate-openapi.js';

const FILE = new URL('../../docs/wire/openapi.json', import.meta.url);

await mkdir(new URL('.', FILE), { recursive: true });
await writeFile(FILE, await generateOpenApi());
