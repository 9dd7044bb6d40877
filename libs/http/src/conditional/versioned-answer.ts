/**
 * The value that a handler returns to give its answer an `ETag`; a GET then answers `If-None-Match` with 304 by itself.
 */
export class VersionedAnswer<Body> {
  /** @param version of everything that the body shows: grows with each change of it */
  constructor(
    readonly body: Body,
    readonly version: number,
  ) {}
}
