// An explicit BOM is content: a decoder that swallowed it would change a payload's bytes.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export const decodeText = (bytes: Uint8Array): string => decoder.decode(bytes);
