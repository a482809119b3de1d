import type { BenchRow } from "../bench-row.ts";
import { consoleRows } from "../console/console-rows.ts";
import { historyRows } from "../history/history-rows.ts";
import { containerStart } from "./container-start.ts";
import { p1SyncCall } from "./p1-sync-call.ts";
import { p2SyncCallGo } from "./p2-sync-call-go.ts";
import { p3AddedLatency } from "./p3-added-latency.ts";
import { p4TailLatency } from "./p4-tail-latency.ts";
import { p5LargeBodies } from "./p5-large-bodies.ts";
import { p6AcceptCall } from "./p6-accept-call.ts";
import { p7QueuedCall } from "./p7-queued-call.ts";
import { p8AcceptLatency } from "./p8-accept-latency.ts";
import { p9IdleStart } from "./p9-idle-start.ts";
import { p10ColdStart } from "./p10-cold-start.ts";
import { p11ClusterColdStart } from "./p11-cluster-cold-start.ts";
import { p12MemoryAtRest } from "./p12-memory-at-rest.ts";
import { p13ManyFunctions } from "./p13-many-functions.ts";
import { p14ManyConnections } from "./p14-many-connections.ts";
import { p15ProcessStart } from "./p15-process-start.ts";
import { p16TwoGateways } from "./p16-two-gateways.ts";
import { p17ProtectedCall } from "./p17-protected-call.ts";

/** All rows, in the order of the table. */
export const rows: readonly BenchRow[] = [
  p1SyncCall,
  p2SyncCallGo,
  ...p3AddedLatency,
  p4TailLatency,
  p5LargeBodies,
  p6AcceptCall,
  p7QueuedCall,
  ...p8AcceptLatency,
  p9IdleStart,
  p10ColdStart,
  p11ClusterColdStart,
  ...p12MemoryAtRest,
  ...p13ManyFunctions,
  ...p14ManyConnections,
  ...p15ProcessStart,
  p16TwoGateways,
  p17ProtectedCall,
  ...historyRows,
  ...consoleRows,
  containerStart,
];
