import type { FunctionDeployment } from "../../runtime/api/schemas/function-deployment.ts";
import type { ExaminedFunction } from "../../runtime/core/doctor/doctor-facts.ts";
import { desireFunction, type DesiredFunction } from "../../runtime/core/functions/desired-function.ts";
import { readFacts } from "../../runtime/core/functions/function-facts.ts";

/** When it was deployed. */
export const deployedAt = "2026-01-31T12:00:00.000Z";

/** The function `hello.functions` with one ready replica, as the doctor sees it. */
export function examinedFunction(
  deployment: Partial<FunctionDeployment> = {},
  over: Partial<ExaminedFunction> & { readonly wants?: Partial<DesiredFunction> } = {},
): ExaminedFunction {
  const { wants, ...rest } = over;
  const whole = { service: "hello", image: "hello:1", ...deployment };
  const wanted = { ...desireFunction(undefined, "functions", whole, deployedAt), ...wants };
  return {
    wanted,
    facts: readFacts(wanted.deployment),
    endpoints: {
      name: wanted.name,
      namespace: wanted.namespace,
      addresses: ["127.0.0.1:1"],
      observedGeneration: 1,
      conditions: [],
    },
    lastStart: undefined,
    ...rest,
  };
}
