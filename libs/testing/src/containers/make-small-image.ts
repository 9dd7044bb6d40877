import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BASE_IMAGE, makeTempFolder, type ContainerEngine } from '@berth/servers';
import { saveImage } from './save-image.js';
import type { SavedImage } from './saved-image.js';

const NAME = 'berth-test/small:1';
/** A shell in one layer, and 8 MB that no compression makes smaller in another: enough to watch it come. */
const DOCKERFILE = `
FROM ${BASE_IMAGE} AS whole
RUN mkdir /small \\
 && cp --parents --dereference /bin/sh /bin/sleep $(ldd /bin/sh | grep -o '/[^ ]*') /small \\
 && head -c 8000000 /dev/urandom >/weight
FROM scratch
COPY --from=whole /small /
COPY --from=whole /weight /weight
CMD ["/bin/sh", "-c", "echo ahoy; exec sleep 3600"]
`;

/** Builds a small image that says `ahoy` and stays; nothing of it is left in the engine, which has the base image. */
export async function makeSmallImage(engine: ContainerEngine): Promise<SavedImage> {
  const folder = await makeTempFolder('berth-image');
  try {
    await writeFile(join(folder.path, 'Dockerfile'), DOCKERFILE);
    await engine.buildImage(NAME, folder.path);
    return await saveImage(engine, NAME);
  } finally {
    await folder.remove();
  }
}
