import { expect, test } from "vitest";

import { probePlans } from "../../../runtime/provider/probe-plan.ts";

const ready = "com.service.ready.http.path";
const health = "com.service.health.http.path";
const h2c = { "com.service.protocol": "h2c" };

test.each<[what: string, annotations: Record<string, string>, handlesProbes: boolean, paths: (string | undefined)[]]>([
  ["a watchdog of Weir has paths for it", {}, true, ["/_/ready", "/_/health"]],
  ["any other image is probed by a connection", {}, false, [undefined, undefined]],
  ["unless it names a path for readiness", { [ready]: "/up" }, false, ["/up", undefined]],
  ["or for health", { [health]: "/alive" }, false, [undefined, "/alive"]],
  ["a probe period names no path", { "com.service.ready.http.periodSeconds": "5" }, false, [undefined, undefined]],
  ["named paths outrank a watchdog's", { [ready]: "/up", [health]: "/alive" }, true, ["/up", "/alive"]],
  ["HTTP/2 is probed by its preface", h2c, true, [undefined, undefined]],
  ["HTTP/2 of an image is probed by its preface", h2c, false, [undefined, undefined]],
])("%s", (_what, annotations, handlesProbes, paths) => {
  const plans = probePlans(annotations, handlesProbes);
  expect([plans.ready.path, plans.health.path]).toEqual(paths);
});
