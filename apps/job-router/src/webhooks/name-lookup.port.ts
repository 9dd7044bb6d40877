/** Every address of a name. Rejects where there is none, or no name server answers. */
export abstract class NameLookup {
  abstract addressesOf(name: string): Promise<readonly string[]>;
}
