/** A message to which a later version has added a member. */
export interface LaterMessage {
  /** Of the object that has it, such as `/desired/0`; empty: of the message itself. */
  readonly path: string;
  readonly body: unknown;
}

/**
 * A message again and again, each time with a member that nobody knows in another one of its objects.
 *
 * @param maps names of members whose value is an object in which any name is known
 */
export const withMembersAdded = (body: object, maps: readonly string[] = []): readonly LaterMessage[] =>
  addWithin(body, '', new Set(maps));

function addWithin(body: unknown, path: string, maps: ReadonlySet<string>): readonly LaterMessage[] {
  if (body === null || typeof body !== 'object') return [];
  const within = Object.entries(body).flatMap(([name, value]) => {
    if (maps.has(name)) return [];
    const later = addWithin(value, `${path}/${name}`, maps);
    return later.map((each) => ({ ...each, body: replace(body, name, each.body) }));
  });
  return Array.isArray(body) ? within : [{ path, body: { ...body, addedLater: { deep: true } } }, ...within];
}

const replace = (body: object, name: string, value: unknown): unknown =>
  Array.isArray(body) ? body.with(Number(name), value) : { ...body, [name]: value };
