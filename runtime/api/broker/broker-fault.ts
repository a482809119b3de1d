/** Why the broker does not store: no reply comes, its servers have no leader now, its disk fails, or is full. */
export type BrokerFaultKind = "away" | "no-leader" | "io-error" | "full";
