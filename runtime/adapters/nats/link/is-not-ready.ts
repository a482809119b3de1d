import { JetStreamApiError } from "@nats-io/jetstream";
import { ClosedConnectionError, ConnectionError, DrainingConnectionError } from "@nats-io/transport-node";

import { isNoResponders, isTimeout } from "./durable-publish.ts";

/** HTTP's words for "not now", which JetStream takes for its own: no leader, no quorum, no resources yet. */
const unavailable = 503;
/** Too few servers for a stream's copies (server `errors.json`): others may come. */
const noSuitablePeers = 10_005;

/** Whether the broker did not answer, or answered that it cannot yet: the same request may pass later. */
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
