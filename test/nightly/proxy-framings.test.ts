import { expect, test } from "vitest";

import { countFramings } from "../support/count-framings.ts";
import { randomFramings } from "../support/framings.ts";
import { noProxy } from "../support/proxy-in-front.ts";
import { proxyKinds } from "../support/proxy-programs.ts";
import { say } from "../support/say.ts";

const framings = 20_000;
/** Bodies of megabytes that are in flight in the gateway while the framings arrive. */
const uploads = { size: 8_000_000, rate: 2_000_000, transfers: 8, others: 0 } as const;

for (const kind of proxyKinds) {
  test.skipIf(noProxy(kind) !== undefined)(
    `${kind} and Weir count the same requests in ${framings} random framings`,
    async () => {
      const counts = await countFramings(kind, randomFramings(1_001, framings), uploads);
      say(
        `H12: behind ${kind} ${counts.sent} requests of ${framings} framings beside ${counts.uploads} uploads of 8 MB`,
      );
      expect(counts.differences).toEqual([]);
      expect(counts.sent).toBeGreaterThan(framings * 0.7);
      expect(counts.uploads).toBeGreaterThan(20);
    },
  );
}
