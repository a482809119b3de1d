import type { BrokerFaultKind } from "../../api/broker/broker-fault.ts";

/** How much of a part of the broker's store is used; an unknown limit is infinite. */
export interface StoreShare {
  readonly used: number;
  readonly limit: number;
}

/** How full the broker's store is, and on how many of its servers. */
export interface BrokerStore {
  /** Bytes of everything in it. */
  readonly whole: StoreShare;
  /** Number of call records. */
  readonly records: StoreShare;
  /** Bytes of call records. */
  readonly recordBytes: StoreShare;
  /** Servers that should have what is stored, and those that have all of it. */
  readonly copies: { readonly wanted: number; readonly current: number };
}

/** The broker as this process sees it. */
export interface BrokerView {
  /** Why it cannot store, as far as this process was affected by it. */
  readonly fault: BrokerFaultKind | undefined;
  /** Undefined before it first replied. */
  readonly version: string | undefined;
  /** Whether its version is older than the queue needs. */
  readonly isTooOld: boolean;
  /** Rejects with `queue_unavailable`. */
  store(): Promise<BrokerStore>;
}
