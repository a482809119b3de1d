import { expect, test } from "vitest";

import { echoLargeBody } from "../support/large-body.ts";

const mebibyte = 1_048_576;

test("8 GiB pass in both directions at once with flat memory", async () => {
  const body = await echoLargeBody(8_192);
  expect(body).toMatchObject({ received: 8_192 * mebibyte, same: true });
  expect(body.grownWhenStuck).toBeLessThan(48 * mebibyte);
  // The same bound as for a 32nd of that.
  expect(body.grown).toBeLessThan(128 * mebibyte);
});
