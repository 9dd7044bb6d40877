import { createSecretKey } from 'node:crypto';
import type { ConfigReader } from '@berth/lifecycle';
import { SecretBox } from './secret-box.js';
import { parseSecretKeys, type SecretKey } from './secret-key.js';

const NAME = 'BERTH_SECRET_KEY';
const MEANING =
  'Key that credentials are sealed with before they are stored: 32 bytes in base64. Of several, with commas between, the ' +
  'first seals and all open.';
const HOW = 'make one with `openssl rand -base64 32`';
/** Stands in after a problem was noted, so that one start names every problem; no process gets to use it. */
const NO_KEY: SecretKey = { id: '', key: createSecretKey(Buffer.alloc(1)) };

/** The box that a process seals and opens with. Without a good key the reader notes how to make one. */
export function readSecretBox(read: ConfigReader): SecretBox {
  const text = read.optional(NAME, MEANING);
  const [first, ...others] = (text === null ? null : parseSecretKeys(text)) ?? [];
  if (first !== undefined) return new SecretBox([first, ...others]);
  read.problems.push(
    text === null
      ? `${NAME} is missing: ${HOW}`
      : `${NAME} must be 32 bytes in base64, or several such keys separated by commas: ${HOW}`,
  );
  return new SecretBox([NO_KEY]);
}
