import { afterEach, test } from "vitest";

import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { freezeUnderLoad } from "../support/freeze-under-load.ts";

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

test("FW20 no record can be written for a minute: no callback comes twice, and accepted calls end", async () => {
  const opened = (bench = await openFaultBench({ slots: 8, ackWait: 2_000 }));
  await freezeUnderLoad(opened, 60_000);
}, 300_000);
