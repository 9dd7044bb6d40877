import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError } from '@berth/domain';
import { PROBLEMS } from '@berth/http';
import { renderProblemPage } from './problem-page.js';

/** The pages that the `type` of a problem names, one per code. */
export class ProblemPagesService {
  readonly #folder: string;

  /** @param folder where the pages lie, as `<code>.md` */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @returns Markdown. @throws PlatformError `route-not-found` for a code that does not exist */
  async text(code: string): Promise<string> {
    if (!Object.hasOwn(PROBLEMS, code)) throw new PlatformError('route-not-found', 'There is no such problem.');
    return readFile(join(this.#folder, `${code}.md`), 'utf8');
  }

  /** @returns a whole HTML document. @throws PlatformError `route-not-found` for a code that does not exist */
  async html(code: string): Promise<string> {
    const text = await this.text(code);
    const [heading = ''] = text.split('\n', 1);
    return renderProblemPage(text, heading.replace(/^# /, ''));
  }
}
