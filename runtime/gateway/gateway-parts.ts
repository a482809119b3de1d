import type { Registry } from "prom-client";
import type { SystemInfo } from "../api/schemas/system-info.ts";
import type { CallbackRules } from "../core/callbacks/callback-policy.ts";
import type { FolderFault } from "../core/functions/local-folder.ts";
import type { Activity } from "../core/ports/activity.ts";
import type { BrokerView } from "../core/ports/broker-view.ts";
import type { CallLedger } from "../core/ports/call-ledger.ts";
import type { CallQueue } from "../core/ports/call-queue.ts";
import type { CallSignals } from "../core/ports/call-signals.ts";
import type { CallbackQueue } from "../core/ports/callback-queue.ts";
import type { DeadLetterStore } from "../core/ports/dead-letters.ts";
import type { Disks } from "../core/ports/disks.ts";
import type { Endpoints } from "../core/ports/endpoints.ts";
import type { FunctionStore } from "../core/ports/function-store.ts";
import type { HistoryReports } from "../core/ports/history-reports.ts";
import type { KeptRequests } from "../core/ports/kept-requests.ts";
import type { LogSource } from "../core/ports/log-source.ts";
import type { NamespaceStore } from "../core/ports/namespace-store.ts";
import type { QueueCatalog } from "../core/ports/queue-catalog.ts";
import type { QueueStates } from "../core/ports/queue-states.ts";
import type { SessionStore } from "../core/ports/session-store.ts";
import type { SecretStore } from "../core/ports/secret-store.ts";
import type { Upstream } from "../core/ports/upstream.ts";
import type { Usage } from "../core/ports/usage.ts";
import type { InvocationMetrics } from "../process/metrics/invocation-metrics.ts";
import type { Log } from "../process/log.ts";
import type { AccessParts } from "./access/build-access.ts";
import type { ListenAddress } from "./edge/servers-beside.ts";
import type { HistoryParts } from "./rest/app-parts.ts";
import type { GatewaySettings } from "./settings.ts";

/** The parts that a gateway is built from. */
export interface GatewayParts extends AccessParts {
  readonly settings: GatewaySettings;
  readonly functions: FunctionStore;
  readonly namespaces: NamespaceStore;
  readonly endpoints: Endpoints;
  readonly queues: QueueCatalog;
  readonly calls: CallQueue;
  readonly callbacks: CallbackQueue;
  readonly letters: DeadLetterStore;
  readonly states: QueueStates;
  readonly ledger: CallLedger;
  readonly signals: CallSignals;
  readonly broker: BrokerView;
  /** Disks of this platform that this process can look at. */
  readonly disks?: Disks | undefined;
  /** Why replicas cannot be started now, or undefined; absent where this process does not know. */
  readonly providerFault?: (() => string | undefined) | undefined;
  readonly activity: Activity;
  readonly upstream: Upstream;
  readonly secrets: SecretStore | undefined;
  readonly logs: LogSource | undefined;
  readonly usage?: Usage | undefined;
  /** Absent: the provider runs no function from a folder. */
  readonly folderFault?: FolderFault | undefined;
  /** Keeps who signed in with a browser; absent: nobody can. */
  readonly sessions?: SessionStore | undefined;
  /** Requests of ended calls. */
  readonly requests: KeptRequests;
  /** Absent = no history of calls is kept. */
  readonly history?: HistoryParts | undefined;
  /** Where calls are reported for the history. Absent = nowhere. */
  readonly reports?: HistoryReports | undefined;
  readonly callbackRules: CallbackRules;
  readonly info: SystemInfo;
  readonly registry: Registry;
  /** Metrics of calls, shared with other components of the process. */
  readonly invocations: InvocationMetrics;
  /** Number of reconnections to the broker. */
  readonly reconnects: () => number;
  /** How long `open` waits for the declared queues before it serves without them, milliseconds; 30 s when absent. */
  readonly brokerPatience?: number | undefined;
  readonly log: Log;
}

/** The gateway: the one HTTP server of a platform. */
export interface BuiltGateway {
  /**
   * Fills the tables, then listens; resolves with the port. If the broker is unavailable, it listens after
   * `brokerPatience` without the declared queues: synchronous calls need none, and asynchronous ones are refused until
   * the queues are known.
   */
  open(): Promise<number>;
  /** Also serves exactly these addresses, without TLS; rejects when it cannot listen at one of them. */
  listenAlso(addresses: readonly ListenAddress[]): Promise<void>;
  /** Calls in flight, including those that wait for a replica. */
  readonly inFlight: number;
  /** From now on every reply closes its connection; requests are still served. */
  drain(): void;
  /**
   * Stops listening; resolves when the last reply was sent, or connections still open after `drain_timeout` were cut.
   */
  close(): Promise<void>;
}
