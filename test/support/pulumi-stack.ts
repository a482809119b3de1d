import type { StackConfig } from "../../infra/check-config.ts";
import type { WeirPlatform } from "../../infra/platform.ts";
import type { WeirPlatformArgs } from "../../infra/weir-platform-args.ts";
import { recordResources, type LookedAt, type RegisteredResource } from "./pulumi-mocks.ts";

/** A platform that was never created, and the resources that it would have. */
export interface RecordedStack {
  readonly config: StackConfig;
  readonly platform: WeirPlatform;
  readonly resources: readonly RegisteredResource[];
  readonly looks: readonly LookedAt[];
}

/**
 * The platform for these values of a stack's configuration; throws with all problems if they are invalid. Without
 * `awaitRollouts` no cluster is contacted.
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
