import { afterAll, beforeAll, describe } from "vitest";

import { callHistoryContract } from "../contract/call-history.contract.ts";
import { openPostgresHistory } from "../support/postgres-history.ts";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await openPostgresServer();
});
afterAll(() => server?.close());

describe("PostgresCallHistory", () => callHistoryContract(() => openPostgresHistory(server)));
