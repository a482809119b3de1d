import type { BrokerFaultKind } from "../../api/broker/broker-fault.ts";
import type { SetAsidePart } from "../../api/schemas/system-info.ts";
import type { FunctionEndpoints } from "../ports/endpoints.ts";
import type { SeenFunction } from "../functions/function-facts.ts";
import type { BrokerStore } from "../ports/broker-view.ts";
import type { DiskSpace } from "../ports/disks.ts";
import type { QueueDeclaration } from "../ports/queue-catalog.ts";
import type { QueuePlace } from "../queues/queue-remedy.ts";
import type { QueueFigures } from "../queues/queue-status.ts";

/** What was asked of somebody else: a value, or why it did not come in time. */
export type Asked<T> = { readonly value: T } | { readonly missing: string };

/** A function as the doctor sees it. */
export interface ExaminedFunction extends SeenFunction {
  readonly endpoints: FunctionEndpoints | undefined;
  /** Milliseconds from when a replica was desired until the first one was ready, the last time; undefined: not seen. */
  readonly lastStart: number | undefined;
}

/** A declared queue, and what is in it. */
export interface ExaminedQueue {
  readonly queue: QueueDeclaration;
  readonly figures: Asked<QueueFigures>;
}

/** Settings of the gateway, milliseconds. */
export interface ExaminedTimes {
  readonly upstreamTimeout: number;
  readonly timeoutMax: number;
  readonly wakeTimeout: number;
  readonly drainTimeout: number;
  readonly callMaxAge: number;
}

export interface ExaminedBroker {
  readonly fault: BrokerFaultKind | undefined;
  readonly version: string | undefined;
  readonly isTooOld: boolean;
  readonly store: Asked<BrokerStore>;
}

/** What starts and stops replicas. */
export interface ExaminedProvider {
  /** Why it cannot now, in one sentence. */
  readonly fault: string | undefined;
}

/** All that the doctor's report is derived from. */
export interface DoctorFacts {
  /** Unix milliseconds. */
  readonly now: number;
  readonly node: string;
  readonly release: string;
  readonly times: ExaminedTimes;
  /** What the broker is said to keep: `interval`, `always` or `cluster`. */
  readonly durability: string;
  readonly place: QueuePlace;
  readonly broker: ExaminedBroker;
  /** Parts of the store that the broker could not recover. */
  readonly setAside: readonly SetAsidePart[];
  /** Undefined where this process does not see it. */
  readonly provider: ExaminedProvider | undefined;
  /** Undefined while no declarations are known. */
  readonly queues: readonly ExaminedQueue[] | undefined;
  readonly functions: readonly ExaminedFunction[];
  /** None where the disks are not this process's. */
  readonly disks: Asked<readonly DiskSpace[]>;
}
