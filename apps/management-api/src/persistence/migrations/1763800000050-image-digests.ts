import { ForwardMigration } from '../forward-migration.js';

/** The digest for which a release's image stands, so that every host runs the same bytes. */
export class ImageDigests1763800000050 extends ForwardMigration {
  readonly name = 'ImageDigests1763800000050';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `ALTER TABLE releases
     ADD COLUMN image_digest text,
     ADD CONSTRAINT releases_image_digest CHECK (image_digest ~ '^sha256:[0-9a-f]{64}$')`,
];
