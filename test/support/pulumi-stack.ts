import type { StackConfig } from "../../infra/check-config.ts";
import type { WeirPlatform } from "../../infra/platform.ts";
import type { WeirPlatformArgs } from "../../infra/weir-platform-args.ts";
import { recordResources, type LookedAt, type RegisteredResource } from "./pulumi-mocks.ts";

/** A platform that was never made, and what it would be made of. */
export interface RecordedStack {
  readonly config: StackConfig;
  readonly platform: WeirPlatform;
  readonly resources: readonly RegisteredResource[];
  readonly looks: readonly LookedAt[];
}

/**
 * The platform of these values, as a stack's configuration holds them; throws with all problems when it is none. No
 * cluster is asked unless `awaitRollouts` says how.
 */
export async function recordedStack(
  values: Readonly<Record<string, unknown>> = {},
  options: { readonly preview?: boolean } & Pick<WeirPlatformArgs, "awaitRollouts"> = {},
): Promise<RecordedStack> {
  const recorder = await recordResources(options);
  const { WeirPlatform } = await import("../../infra/platform.ts");
  const { checkConfig, structuredValues } = await import("../../infra/check-config.ts");
  const { awaitRollouts = false } = options;
  const platform = new WeirPlatform("weir", { ...structuredValues(values), awaitRollouts });
  const { config, problems } = checkConfig(values);
  if (config === undefined) throw new Error(problems.join("\n"));
  return { config, platform, resources: await recorder.resources(), looks: recorder.looks };
}
