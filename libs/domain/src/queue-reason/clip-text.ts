/** At most `max` characters; what was cut is marked. */
export const clipText = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1)}…`;
