import { expect, test } from "vitest";

import { PlatformError } from "../../../../../runtime/api/platform-error.ts";
import { Acceptances } from "../../../../../runtime/gateway/calls/async/acceptances.ts";

function refusalOf(act: () => unknown): PlatformError | undefined {
  try {
    act();
    return undefined;
  } catch (err) {
    return err instanceof PlatformError ? err : expect.fail(String(err));
  }
}

test("beyond the limits calls are refused once the oldest has waited for a second", () => {
  let now = 0;
  const acceptances = new Acceptances({ maxCalls: 3, maxBytes: 100 }, () => now);
  const done = [acceptances.begin("a", 40), acceptances.begin("b", 40)];
  // A broker that keeps up takes any number at a time.
  for (const id of ["c", "d", "e"]) done.push(acceptances.begin(id, 40));
  now = 1_000;
  expect(refusalOf(() => acceptances.begin("f", 0))).toMatchObject({
    code: "queue_unavailable",
    callQueued: "no",
    callId: "f",
    retryAfterSeconds: 1,
    message: 'Cannot queue call "f": 5 calls wait for the queue already; send it again later',
  });
  for (const end of done.slice(0, 3)) end();
  expect(refusalOf(() => acceptances.check("g", 20))).toBeUndefined();
  expect(refusalOf(() => acceptances.check("g", 21))?.message).toBe(
    'Cannot queue call "g": 2 calls with 80 bytes wait for the queue already; send it again later',
  );
  done[0]?.();
  for (const end of done) end();
  expect(refusalOf(() => acceptances.check("h", 100))).toBeUndefined();
});
