import { expect, test } from "vitest";

import { probePlans } from "../../../runtime/provider/probe-plan.ts";

const ready = "com.service.ready.http.path";
const health = "com.service.health.http.path";
const h2c = { "com.service.protocol": "h2c" };

test.each<[what: string, annotations: Record<string, string>, handlesProbes: boolean, paths: (string | undefined)[]]>([
  ["a watchdog of ours has paths for it", {}, true, ["/_/ready", "/_/health"]],
  ["any other image is asked for a connection", {}, false, [undefined, undefined]],
  ["unless it names a path for readiness", { [ready]: "/up" }, false, ["/up", undefined]],
  ["or for health", { [health]: "/alive" }, false, [undefined, "/alive"]],
  [
    "how often it is asked names no path",
    { "com.service.ready.http.periodSeconds": "5" },
    false,
    [undefined, undefined],
  ],
  ["named paths go before a watchdog's", { [ready]: "/up", [health]: "/alive" }, true, ["/up", "/alive"]],
  ["HTTP/2 is greeted", h2c, true, [undefined, undefined]],
  ["HTTP/2 of an image is greeted", h2c, false, [undefined, undefined]],
])("%s", (_what, annotations, handlesProbes, paths) => {
  const plans = probePlans(annotations, handlesProbes);
  expect([plans.ready.path, plans.health.path]).toEqual(paths);
});
