import type { StackConfig } from "../../infra/check-config.ts";
import type { WeirPlatform } from "../../infra/platform.ts";
import type { RolloutGate } from "../../infra/rollout/rollout-gate.ts";
import { recordResources, type RegisteredResource } from "./pulumi-mocks.ts";

/** A platform that was never made, and what it would be made of. */
export interface RecordedStack {
  readonly config: StackConfig;
  readonly platform: WeirPlatform;
  readonly resources: readonly RegisteredResource[];
}

/** The stack of this configuration; throws with all problems when it is none. */
export async function recordedStack(
  values: Readonly<Record<string, unknown>> = {},
  options: { readonly preview?: boolean; readonly gate?: RolloutGate } = {},
): Promise<RecordedStack> {
  const recorder = await recordResources(options);
  const { checkConfig } = await import("../../infra/check-config.ts");
  const { WeirPlatform } = await import("../../infra/platform.ts");
  const { makeProviders } = await import("../../infra/providers.ts");
  const { config, problems } = checkConfig(values);
  if (config === undefined) throw new Error(problems.join("\n"));
  const platform = new WeirPlatform("weir", config, { ...makeProviders("weir", config), gate: options.gate });
  return { config, platform, resources: await recorder.resources() };
}
