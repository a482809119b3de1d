import { callDetailRoutes } from "./call-detail.ts";
import { callLogRoute } from "./call-logs.ts";
import { callListRoute } from "./call-list.ts";
import { callRequestRoute } from "./call-request.ts";
import { replayCallRoute } from "./replay-call.ts";
import { rollupRoute } from "./rollups.ts";

/** The history of calls. */
export const callHistoryRoutes = [
  callListRoute,
  callRequestRoute,
  callLogRoute,
  replayCallRoute,
  ...callDetailRoutes,
  rollupRoute,
];
