import { expect, test } from "vitest";

import { countFramings } from "../support/count-framings.ts";
import { randomFramings } from "../support/framings.ts";
import { noProxy } from "../support/proxy-in-front.ts";
import { proxyKinds } from "../support/proxy-programs.ts";

for (const kind of proxyKinds) {
  test.skipIf(noProxy(kind) !== undefined)(`${kind} counts what Weir counts of 10 000 random framings`, async () => {
    const { sent, differences } = await countFramings(kind, randomFramings(1_001, 10_000));
    expect(differences).toEqual([]);
    expect(sent).toBeGreaterThan(7_000);
  });
}
