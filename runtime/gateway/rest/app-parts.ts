import type { FunctionStatus } from "../../api/schemas/function-status.ts";
import type { SystemInfo } from "../../api/schemas/system-info.ts";
import type { DeployParts } from "../../core/functions/deploy-function.ts";
import type { DesiredFunction } from "../../core/functions/desired-function.ts";
import type { NamesOf } from "../../core/functions/function-not-found.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import { functionStatus } from "../../core/functions/function-status.ts";
import type { AuditTrail } from "../../core/ports/audit-trail.ts";
import type { CallHistory, HistoryProgress } from "../../core/ports/call-history.ts";
import type { FunctionEndpoints } from "../../core/ports/endpoints.ts";
import type { KeptRequests } from "../../core/ports/kept-requests.ts";
import type { KeptLogs, LinePlace } from "../../core/ports/kept-logs.ts";
import type { LogSource } from "../../core/ports/log-source.ts";
import type { Usage } from "../../core/ports/usage.ts";
import type { QueueViewParts } from "../../core/queues/queue-views.ts";
import type { RedriveParts } from "../../core/queues/redrive.ts";
import type { FunctionView } from "../../core/replicas/rollout.ts";
import type { Log } from "../../process/log.ts";
import type { PlatformDoctor } from "../doctor/platform-doctor.ts";
import type { AccessObserver } from "../access/access-observer.ts";
import type { BasicAuth } from "../access/basic-auth.ts";
import type { OriginRules } from "../access/check-origin.ts";
import type { SessionTable } from "../access/sessions/session-table.ts";
import type { TokenParts } from "../access/tokens/token-parts.ts";
import type { AcceptReplay } from "../calls/async/accept-replay.ts";
import type { ErrorWriter } from "../error-handler.ts";
import type { RouteCounts } from "../metrics/route-counts.ts";
import type { WatchSources } from "../watch/shared-rows.ts";
import type { WatchStreams } from "../watch/watch-streams.ts";
import type { LogStreams } from "./log-streams.ts";
import type { CredentialSettings } from "./start-page.ts";

/** The parts of the routes of queues and dead letters. */
export interface QueueParts extends QueueViewParts, RedriveParts {}

/** The parts of the routes of the history of calls. */
export interface HistoryParts {
  readonly reads: CallHistory;
  /** How far it is behind the records. */
  readonly progress: () => Promise<HistoryProgress>;
  /** Removes a call for good; false if it is open. */
  readonly remove: (id: string) => Promise<boolean>;
  /** Absent = no log lines are kept. */
  readonly logs?: KeptLogParts | undefined;
}

/** The kept log lines of functions. */
export interface KeptLogParts {
  readonly reads: KeptLogs;
  /** Removes lines of a function for good. */
  readonly remove: (ref: FunctionRef, places: readonly LinePlace[]) => Promise<void>;
}

/** The parts of the REST side of the gateway. Routes of absent ones reply `not_built`. Durations are milliseconds. */
export interface AppParts extends DeployParts {
  readonly log: Log;
  readonly errors: ErrorWriter;
  readonly auth: BasicAuth;
  /** Tokens, and who may do what; absent in editions without IAM. */
  readonly tokens?: TokenParts | undefined;
  /** Who is signed in with a browser; absent: there is no console. */
  readonly sessions?: SessionTable | undefined;
  /** Keeps who changed what, and who was refused what. */
  readonly audit?: AuditTrail | undefined;
  /** Told of refusals and changes. */
  readonly observer?: AccessObserver | undefined;
  readonly origins: OriginRules;
  readonly logs: LogSource | undefined;
  /** Absent = usage is unknown and left out. */
  readonly usage?: Usage | undefined;
  /** The provider's last report of a function, from the table that watches it. */
  readonly endpoints: (ref: FunctionRef) => FunctionEndpoints | undefined;
  /** Names of functions, for suggestions. */
  readonly namesOf: NamesOf;
  /** The state of functions, for requests that wait for a deployment. */
  readonly view: FunctionView;
  /** Finished calls of a function, best effort. */
  readonly invocations: (ref: FunctionRef) => number;
  readonly info: SystemInfo;
  /** The address at which clients reach the gateway; known once it listens. */
  readonly address: () => string;
  /** The origin of the console for who asks for this host; absent: there is no console. */
  readonly consoleOf?: ((host: string | undefined) => string) | undefined;
  /** The settings that locate the platform's password. */
  readonly credentials: CredentialSettings;
  readonly queueParts: QueueParts;
  /** Absent = the setting `history` is off. */
  readonly history?: HistoryParts | undefined;
  /** Requests of ended calls. */
  readonly requests: KeptRequests;
  readonly acceptReplay: AcceptReplay;
  readonly doctor: PlatformDoctor;
  /** How long the autoscaler leaves a count that was set by hand alone. */
  readonly scaleHold: number;
  /** Those of this process, which all its listeners share; absent: the app has its own. */
  readonly logStreams?: LogStreams | undefined;
  /** What streams show of functions and their calls. */
  readonly watched: WatchSources;
  /** Streams of changes, in the same way. */
  readonly watch?: WatchStreams | undefined;
  /** Time without a record after which a log stream of its own sends an empty line. */
  readonly logHeartbeatPeriod: number;
  /** Counts requests whose response was sent. */
  readonly routes: RouteCounts;
}

/** A function as clients see it now. */
export function statusNow(
  desired: DesiredFunction,
  { endpoints, invocations }: Pick<AppParts, "endpoints" | "invocations">,
): FunctionStatus {
  return functionStatus(desired, endpoints(desired), invocations(desired));
}
