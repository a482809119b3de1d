import type { Platform } from "../manifests/platform.ts";
import type { OpenTexts } from "../open-texts.ts";
import type { RolloutGate } from "../rollout/rollout-gate.ts";
import type { PodAnnotations } from "./pod-annotations.ts";
import type { WaitTimeouts } from "./wait-timeouts.ts";

/** What each part of the platform is told. */
export interface PlatformArgs {
  readonly platform: Platform;
  readonly timeouts: WaitTimeouts;
  readonly gate?: RolloutGate | undefined;
  /** Puts texts that come from other resources in their places; none does when absent. */
  readonly fillObject?: OpenTexts["fillObject"] | undefined;
  /** Whether what the broker's volumes go with is protected. */
  readonly protect?: boolean | undefined;
  /** Annotations of its pods: when one changes, they are restarted. */
  readonly podAnnotations?: PodAnnotations | undefined;
}
