import { expect, test } from "vitest";

import type { Edition } from "../../../../runtime/api/editions.ts";
import { moreSlots, type QueuePlace } from "../../../../runtime/core/queues/queue-remedy.ts";

test.each<[queue: string, edition: Edition, home: QueuePlace["home"], remedy: string]>([
  ["default", "enterprise", "machine", "start Weir with --max-inflight 2 (now 1)"],
  ["default", "pro", "machine", "start Weir with --max-inflight 2 (now 1)"],
  ["default", "pro", "cluster", "set weir:maxInflight to 2 in the stack (now 1)"],
  [
    "default",
    "community",
    "machine",
    'edition "community" runs no more at once; start Weir with --edition pro --max-inflight 2',
  ],
  [
    "default",
    "standard",
    "cluster",
    'edition "standard" runs no more at once; set weir:edition to pro and weir:maxInflight to 2 in the stack',
  ],
  ["reports", "enterprise", "machine", "raise queues.reports.max_inflight in the settings file (now 1)"],
  ["reports", "enterprise", "cluster", 'raise max_inflight of "reports" in weir:queues of the stack (now 1)'],
])("how to run more calls of queue %s in edition %s on a %s", (name, edition, home, remedy) => {
  expect(moreSlots({ name, maxInflight: 1 }, { edition, home })).toBe(remedy);
});
