/** Every text in a value that cannot be kept, as `$.path: reason`. PostgreSQL stores neither NUL nor half of a surrogate pair. */
export function textFailures(value: unknown, path = '$'): readonly string[] {
  if (typeof value === 'string') {
    const reason = reasonOf(value);
    return reason === null ? [] : [`${path}: ${reason}`];
  }
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => textFailures(item, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const reason = reasonOf(name);
    return reason === null ? textFailures(member, `${path}.${name}`) : [`${path}: has a member whose name ${reason}`];
  });
}

function reasonOf(text: string): string | null {
  if (text.includes('\0')) return 'must not contain a NUL character';
  return text.isWellFormed() ? null : 'must be well-formed Unicode';
}
