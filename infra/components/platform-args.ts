import type { Platform } from "../manifests/platform.ts";
import type { OpenTexts } from "../open-texts.ts";
import type { RolloutGate } from "../rollout/rollout-gate.ts";
import type { PodAnnotations } from "./pod-annotations.ts";
import type { WaitTimeouts } from "./wait-timeouts.ts";

/** Arguments of each part of the platform. */
export interface PlatformArgs {
  readonly platform: Platform;
  readonly timeouts: WaitTimeouts;
  readonly gate?: RolloutGate | undefined;
  /** Fills in texts that come from other resources; there are none when absent. */
  readonly fillObject?: OpenTexts["fillObject"] | undefined;
  /** Whether the objects whose deletion would delete volumes are protected. */
  readonly protect?: boolean | undefined;
  /** Annotations of its pods: when one changes, they are restarted. */
  readonly podAnnotations?: PodAnnotations | undefined;
}
