import { expect, test } from "vitest";

import { echoLargeBody } from "../support/large-body.ts";

const mebibyte = 1_048_576;

test("1 GiB passes both ways at once; what a slow reader leaves does not pile up in the gateway", async () => {
  const body = await echoLargeBody(1_024);
  expect(body.stuckAt).toBeLessThan(128 * mebibyte);
  // Includes garbage of the start, of which the collector leaves more on a busy machine.
  expect(body.grownWhenStuck).toBeLessThan(80 * mebibyte);
  expect(body).toMatchObject({ received: 1_024 * mebibyte, same: true });
  // Besides buffers, garbage that the collector leaves while there is memory.
  expect(body.grown).toBeLessThan(128 * mebibyte);
});
