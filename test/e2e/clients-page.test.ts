import { test } from "vitest";

import { clientsFlags, walkClients } from "../support/walk-clients.ts";
import { walkedWeir } from "../support/walked-weir.ts";

/** All clients share one Weir. */
const walked = walkedWeir("clients", { flags: clientsFlags, within: 60_000 });

await walkClients(walked, "TypeScript");
await walkClients(walked, "Python", "python");

test("Weir ends with Ctrl-C and leaves nothing", async () => {
  await walked().weir.stop();
});
