import { JetStreamApiError } from "@nats-io/jetstream";
import { ClosedConnectionError, ConnectionError, DrainingConnectionError } from "@nats-io/transport-node";

import { isNoResponders, isTimeout } from "./durable-publish.ts";

/** HTTP 503, which JetStream uses for "not now": no leader, no quorum, no resources yet. */
const unavailable = 503;
/** Too few servers for a stream's copies (server `errors.json`): more may join. */
const noSuitablePeers = 10_005;

/** Whether the broker did not reply, or replied that it cannot yet: the same request may succeed later. */
export function isNotReady(err: unknown): boolean {
  if (err instanceof JetStreamApiError) return err.status === unavailable || err.code === noSuitablePeers;
  return (
    isTimeout(err) ||
    isNoResponders(err) ||
    (err instanceof Error && err.name === "JetStreamNotEnabled") ||
    err instanceof ConnectionError ||
    err instanceof ClosedConnectionError ||
    err instanceof DrainingConnectionError
  );
}
