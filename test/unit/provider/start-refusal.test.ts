import { expect, test } from "vitest";

import { PlatformError } from "../../../runtime/api/platform-error.ts";
import { StartRefused } from "../../../runtime/core/replicas/start-refused.ts";
import { blockedRetry, startRefusal } from "../../../runtime/provider/start-refusal.ts";

test.each<[err: unknown, reason: string, retryAfter: number | undefined]>([
  [new StartRefused({ reason: "PrepareFailed", message: "no" }), "PrepareFailed", blockedRetry],
  [new PlatformError("secret_not_found", "no"), "SecretNotFound", blockedRetry],
  [new PlatformError("provider_unavailable", "no"), "ProviderUnavailable", undefined],
  [new Error("no"), "CannotStart", undefined],
])("%s: %s", (err, reason, retryAfter) => {
  expect(startRefusal(err)).toEqual({ failure: { reason, message: "no" }, retryAfter });
});
