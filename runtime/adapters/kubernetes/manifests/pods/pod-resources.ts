import type { FunctionDeployment } from "../../../../api/schemas/function-deployment.ts";
import { parseQuantity } from "../../../../core/functions/quantity.ts";
import type { ResourceRequirements } from "../object-types.ts";

type Amounts = Readonly<Record<string, string>>;

/**
 * Resources of a function's container: its own amounts, else the Profiles', else the namespace's default
 * (`defaultLimits`). Kubernetes refuses requests above limits: where only one of the two is the function's own, the
 * other follows it. Devices are never shared: request and limit are the same.
 */
export function podResources(
  own: Pick<FunctionDeployment, "limits" | "requests">,
  profile: ResourceRequirements | undefined,
  defaultLimits: Amounts,
): ResourceRequirements | undefined {
  const limits: Record<string, string> = { ...profile?.limits, ...own.limits };
  const requests: Record<string, string> = { ...profile?.requests, ...own.requests };
  for (const name of new Set([...Object.keys(limits), ...Object.keys(requests)])) {
    const limit = limits[name];
    const request = requests[name];
    if (isDevice(name)) {
      const count = own.limits?.[name] ?? own.requests?.[name] ?? limit ?? request ?? "0";
      limits[name] = count;
      requests[name] = count;
    } else if (limit !== undefined && request !== undefined && isAbove(request, limit)) {
      if (own.requests?.[name] === undefined) requests[name] = limit;
      else limits[name] = request;
    } else if (request !== undefined && isAbove(request, defaultLimits[name] ?? request)) {
      limits[name] = request;
    }
  }
  if (isEmpty(limits) && isEmpty(requests)) return undefined;
  return { ...(isEmpty(limits) ? {} : { limits }), ...(isEmpty(requests) ? {} : { requests }) };
}

function isDevice(name: string): boolean {
  return name.includes("/");
}

function isAbove(a: string, b: string): boolean {
  const [one, other] = [parseQuantity(a), parseQuantity(b)];
  return one !== undefined && other !== undefined && one > other;
}

function isEmpty(amounts: Amounts): boolean {
  return Object.keys(amounts).length === 0;
}
