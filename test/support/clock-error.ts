import { requestTimeout } from "../../runtime/adapters/nats/link/nats-link.ts";

/**
 * Milliseconds by which a wait may end early that one process began and another ends: each knows the broker's clock to
 * half the time that its look at it took, and no look takes longer than a request may.
 */
export const clockError = requestTimeout;
