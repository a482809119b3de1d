import { readFileSync } from "node:fs";
import { join } from "node:path";

import { credentialFile } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { Invoker } from "../../../core/ports/invoker.ts";
import type { Upstream } from "../../../core/ports/upstream.ts";
import { GatewayInvoker } from "./gateway-invoker.ts";
import { HttpInvoker } from "./http-invoker.ts";

/** Settings of a queue-worker that decide how it runs functions. */
export interface InvokeSettings {
  readonly gatewayInvoke: boolean;
  readonly gatewayUrl?: string | undefined;
  readonly secretMountPath: string;
  readonly wakeTimeout: number;
}

/**
 * Chooses how a queue-worker runs functions: directly at their replicas, or through the gateway.
 * @throws PlatformError when the key for the gateway cannot be read
 */
export function invokerFor(
  upstream: Upstream,
  settings: InvokeSettings,
): { readonly invoker: Invoker; readonly runsThrough: string | undefined } {
  const { gatewayInvoke, gatewayUrl, secretMountPath, wakeTimeout } = settings;
  if (!gatewayInvoke || gatewayUrl === undefined) return { invoker: new HttpInvoker(upstream), runsThrough: undefined };
  const key = readKey(join(secretMountPath, credentialFile.invokeKey));
  return { invoker: new GatewayInvoker({ upstream, key, wakeTimeout }), runsThrough: new URL(gatewayUrl).origin };
}

function readKey(file: string): string {
  let key = "";
  try {
    key = readFileSync(file, "utf8").trim();
  } catch {
    // Reported below.
  }
  if (key !== "") return key;
  throw new PlatformError(
    "internal_error",
    `Cannot call through the gateway with key "${file}": it is missing or empty`,
  );
}
