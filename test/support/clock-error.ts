import { requestTimeout } from "../../runtime/adapters/nats/link/nats-link.ts";

/**
 * Milliseconds by which a wait may end early if one process begins it and another ends it. Each knows the broker's
 * clock to half the round trip in which it read that clock, and no round trip outlasts the request timeout.
 */
export const clockError = requestTimeout;
