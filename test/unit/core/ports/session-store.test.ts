import { expect, test } from "vitest";

import { sessionLifetime } from "../../../../runtime/core/ports/session-store.ts";

test("a session lasts 8 hours", () => {
  const signedIn = Date.parse("2026-01-31T09:00:00.000Z");
  expect(new Date(signedIn + sessionLifetime).toISOString()).toBe("2026-01-31T17:00:00.000Z");
});
