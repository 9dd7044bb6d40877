/** How long an owner believes in its claim, from the sending of the last acknowledged renewal. */
export const CLAIM_TRUST_MS = 3_000;

/** How long a taker must have seen a revision unmoved. The second above the trust is for clocks that run unevenly. */
export const CLAIM_UNMOVED_MS = 4_000;

/** Renewals and signs of life leave once a second, at a look that may be a little early. */
export const CLAIM_WRITE_EVERY_MS = 900;

/** A longer silence between acknowledgements of own writes says that the broker took nobody's. */
export const ACKNOWLEDGEMENT_GAP_MAX_MS = 1_500;

/** A survey that was asked for earlier says nothing of who is silent now. */
export const SURVEY_AGE_MAX_MS = 2_000;

/** Shards over the share leave one at a time, at least this far apart, so that most work goes on. */
export const HANDOVER_PACE_MS = 1_000;
