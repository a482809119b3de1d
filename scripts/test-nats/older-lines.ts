import type { NatsServerModule } from "../../runtime/adapters/nats/server/install-with-go.ts";

/** The lines of nats-server that are supported besides the pinned one, each with the release that the tests run on. */
export const olderLines: Readonly<Record<string, NatsServerModule>> = {
  "2.12": { version: "2.12.15", hash: "h1:ETr9+LamgSyw+70x1iJm4J9m//sN5KSChQWk4uxJJJo=" },
};
