import type { BlobManifest, Payload } from '@berth/domain';
import { count, id, objectOf, text, variantOf, type Shape } from '@berth/domain/shape';

/** Far above what is accepted, and what a message could bring: the decision refuses more precisely. */
export const PAYLOAD_MAX_CHARACTERS = 2 * 1024 * 1024;

type PayloadOf<Kind extends Payload['kind']> = Omit<Extract<Payload, { readonly kind: Kind }>, 'kind'>;

export const payload: Shape = variantOf({
  inline: objectOf<PayloadOf<'inline'>>({ json: text(PAYLOAD_MAX_CHARACTERS) }),
  blob: objectOf<PayloadOf<'blob'>>({
    manifest: objectOf<BlobManifest>({ name: id, parts: count, sizeBytes: count, sha256: id }),
  }),
});
