import { expect, test } from "vitest";

import type { FunctionDeployment } from "../../../runtime/api/schemas/function-deployment.ts";
import {
  checkDescription,
  queueTimeouts,
  type DescriptionSettings,
} from "../../../runtime/operator/check-description.ts";

const settings: DescriptionSettings = {
  edition: "enterprise",
  upstreamTimeout: 30_000,
  timeoutMax: 3_600_000,
  declaredQueues: ["default=2m", "mail=5m"],
};
const described = (exec: string, annotations: Record<string, string> = {}): FunctionDeployment => ({
  service: "hello",
  image: "example/hello:1",
  envVars: { exec_timeout: exec },
  annotations,
});

test.each<
  [what: string, refusal: string | undefined, deployment: FunctionDeployment, over?: Partial<DescriptionSettings>]
>([
  ["as long as calls of the default queue", undefined, described("2m")],
  [
    "longer than those",
    'exec_timeout 3m is above upstream_timeout (30s) and the timeout of queue "default" (2m); set annotation com.service.timeout to 3m or more',
    described("3m"),
  ],
  ["as long as calls of its queue", undefined, described("5m", { "com.service.queue": "mail" })],
  [
    "longer than synchronous ones, with a queue that is not declared",
    "exec_timeout 31s is above",
    described("31s", { "com.service.queue": "post" }),
  ],
  ["long, when no queue is known", undefined, described("3m"), { declaredQueues: [] }],
  [
    "a timeout beyond timeout_max",
    "com.service.timeout 2h is above timeout_max (1h)",
    described("1s", { "com.service.timeout": "2h" }),
  ],
  [
    "a queue beyond the edition",
    'edition "pro" has only "default"',
    described("1s", { "com.service.queue": "mail" }),
    { edition: "pro" },
  ],
  [
    "a folder of some machine",
    'com.service.local.folder needs provider "local"',
    described("1s", { "com.service.local.folder": "/srv/hello" }),
  ],
  ["an invalid field", "Cannot read", { ...described("1s"), image: "http://x" }],
])("%s", (_what, refusal, deployment, over = {}) => {
  const check = () => checkDescription(deployment, { ...settings, ...over });
  if (refusal === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(refusal);
});

test("queues that are not configured are not known", () => {
  expect(queueTimeouts([])).toBeUndefined();
  expect([...(queueTimeouts(settings.declaredQueues) ?? [])]).toEqual([
    ["default", 120_000],
    ["mail", 300_000],
  ]);
});
