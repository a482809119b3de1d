/** Durability guarantees that a broker can give. */
export const durabilityProfiles = ["interval", "always", "cluster"] as const;

/** What a crash of the operating system can cost: `interval` about a second of calls, `always` and `cluster` none. */
export type DurabilityProfile = (typeof durabilityProfiles)[number];
