import { expect, test } from "vitest";

import { eventually } from "../../support/eventually.ts";
import { openFunctionServer } from "../../support/function-server.ts";
import { openLedger, readLedger } from "../../support/ledger.ts";
import { recordRuns } from "../../support/record-runs.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

test("each run is recorded with its beginning and end, an aborted one without a status", async () => {
  await using directory = await tempDirectory("runs");
  const ledger = openLedger(directory.path, "function");
  const server = await openFunctionServer(
    recordRuns(ledger, (_request, response, body) => {
      if (body !== "hang") response.writeHead(418).end();
    }),
  );
  const call = (id: string, body: string) =>
    fetch(`http://${server.address}/`, {
      method: "POST",
      body,
      headers: { "X-Call-Id": id, "X-Call-Attempt": "2" },
      signal: AbortSignal.timeout(200),
    });

  expect((await call("a", "")).status).toBe(418);
  await expect(call("b", "hang")).rejects.toThrow(/timeout/);
  const runs = await eventually(
    () => {
      const read = readLedger(directory.path).runs;
      return read.length === 2 && read.every((run) => run.endedAt !== undefined) && read;
    },
    { what: "the end of both runs" },
  );
  await server.close();
  ledger.close();

  expect(runs.map(({ id, attempt, status }) => [id, attempt, status])).toEqual([
    ["a", 2, 418],
    ["b", 2, undefined],
  ]);
  expect(runs[0]?.worker).toMatch(/ from port \d+$/);
});
