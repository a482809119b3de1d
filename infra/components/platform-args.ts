import type { Platform } from "../manifests/platform.ts";
import type { RolloutGate } from "../rollout/rollout-gate.ts";
import type { PodAnnotations } from "./pod-annotations.ts";
import type { WaitTimeouts } from "./wait-timeouts.ts";

/** What each part of the platform is told. */
export interface PlatformArgs {
  readonly platform: Platform;
  readonly timeouts: WaitTimeouts;
  readonly gate?: RolloutGate | undefined;
  /** Annotations of its pods: when one changes, they are restarted. */
  readonly podAnnotations?: PodAnnotations | undefined;
}
