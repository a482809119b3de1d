import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { grammarRule } from "../../api/grammar.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { isLabelKey } from "../labels/label-syntax.ts";
import { parseQuantity, quantityScale } from "./quantity.ts";
import { quote } from "../quote.ts";

/**
 * Checks limits and requests: memory, cpu or a device key such as `nvidia.com/gpu`, each a quantity, no request above
 * its limit.
 * @throws PlatformError `validation_failed`
 */
export function checkResources(deployment: Pick<FunctionDeployment, "limits" | "requests">): void {
  const limits = quantities("limits", deployment.limits);
  for (const [key, request] of quantities("requests", deployment.requests)) {
    const limit = limits.get(key);
    if (limit !== undefined && request > limit) {
      const [asked, most] = [deployment.requests?.[key] ?? "", deployment.limits?.[key] ?? ""];
      throw refusal(`requests.${key}`, `${quote(asked)} is above its limit of ${quote(most)}`);
    }
  }
}

function quantities(field: string, amounts: FunctionDeployment["limits"]): Map<string, bigint> {
  const parsed = new Map<string, bigint>();
  for (const [key, text] of Object.entries(amounts ?? {})) {
    const isDevice = key.includes("/") && isLabelKey(key);
    if (key !== "memory" && key !== "cpu" && !isDevice) {
      throw refusal(field, `expected ${grammarRule.resource}, got ${quote(key)}`);
    }
    const value = parseQuantity(text);
    if (value === undefined) throw refusal(`${field}.${key}`, `expected ${grammarRule.quantity}, got ${quote(text)}`);
    if (isDevice && value % quantityScale !== 0n) {
      throw refusal(`${field}.${key}`, `expected a whole number of devices, got ${quote(text)}`);
    }
    parsed.set(key, value);
  }
  return parsed;
}

function refusal(field: string, rule: string): PlatformError {
  return new PlatformError("validation_failed", `Cannot read field "${field}": ${rule}`);
}
