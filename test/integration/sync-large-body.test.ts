import { expect, test } from "vitest";

import { echoLargeBody } from "../support/large-body.ts";

const mebibyte = 1_048_576;

/** Twice what may pile up; `test/nightly/large-body.test.ts` sends 8 GiB. */
const mebibytes = 256;

test("a large body passes both ways at once; what a slow reader leaves does not pile up in the gateway", async () => {
  const body = await echoLargeBody(mebibytes);
  expect(body.stuckAt).toBeLessThan(128 * mebibyte);
  // Includes garbage of the start, of which the collector leaves more on a busy machine.
  expect(body.grownWhenStuck).toBeLessThan(80 * mebibyte);
  expect(body).toMatchObject({ received: mebibytes * mebibyte, same: true });
  // Besides buffers, garbage that the collector leaves while there is memory.
  expect(body.grown).toBeLessThan(128 * mebibyte);
});
