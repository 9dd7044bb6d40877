export interface FairPoolOptions<Member> {
  readonly membersMax: number;
  /** Whether a member may be sent away without harm; those go first. Absent: all are alike. */
  readonly isIdle?: (member: Member) => boolean;
}

/**
 * So many members at most. Where there is no room for another, the group with the most gives one up: its oldest idle one,
 * else its oldest. So a network that fills the pool does so at its own cost, and there is room for everybody else.
 */
export class FairPool<Member> {
  readonly #membersMax: number;
  readonly #isIdle: (member: Member) => boolean;
  /** Members by group, oldest first. */
  readonly #groups = new Map<string, Set<Member>>();
  readonly #groupOf = new Map<Member, string>();

  constructor({ isIdle = () => true, membersMax }: FairPoolOptions<Member>) {
    this.#membersMax = membersMax;
    this.#isIdle = isIdle;
  }

  get size(): number {
    return this.#groupOf.size;
  }

  /** @returns the connection that has to go for it; undefined while there is room */
  add(member: Member, group: string): Member | undefined {
    const leaving = this.size >= this.#membersMax ? this.#chooseLeaving() : undefined;
    if (leaving !== undefined) this.remove(leaving);
    this.#groupOf.set(member, group);
    const members = this.#groups.get(group) ?? new Set<Member>();
    this.#groups.set(group, members.add(member));
    return leaving;
  }

  has(member: Member): boolean {
    return this.#groupOf.has(member);
  }

  remove(member: Member): void {
    const group = this.#groupOf.get(member);
    if (group === undefined) return;
    this.#groupOf.delete(member);
    const members = this.#groups.get(group);
    members?.delete(member);
    if (members?.size === 0) this.#groups.delete(group);
  }

  #chooseLeaving(): Member | undefined {
    let largest = new Set<Member>();
    for (const members of this.#groups.values()) if (members.size > largest.size) largest = members;
    for (const member of largest) if (this.#isIdle(member)) return member;
    const [oldest] = largest;
    return oldest;
  }
}
