import type { Platform } from "../manifests/platform.ts";
import type { PodAnnotations } from "./pod-annotations.ts";

/** What each part of the platform is told. */
export interface PlatformArgs {
  readonly platform: Platform;
  /** Annotations of its pods: when one changes, they are restarted. */
  readonly podAnnotations?: PodAnnotations | undefined;
}
