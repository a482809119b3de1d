import { at, mappingsIn, type RolloutDecision, type Workload } from "./decide-rollout.ts";

/** Reasons for which a node tries to pull an image again, 10 s after the first attempt. */
export const imageTriedAgain: ReadonlySet<unknown> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "RegistryUnavailable",
]);
/** Those for which it never will. */
const final: ReadonlySet<unknown> = new Set(["InvalidImageName", "ErrImageNeverPull"]);
/** What nodes put before the words of the registry. */
const backOffWords = /^Back-off pulling image "[^"]*": (?:ErrImagePull: )?/;

/** Why a wanted image cannot be pulled, as pods of the workload report it; undefined when none does. */
export function decideImages(wanted: Workload, pods: readonly Workload[]): RolloutDecision | undefined {
  const images = new Set(mappingsIn(at(wanted, "spec.template.spec.containers")).map(({ image }) => image));
  for (const pod of pods) {
    // One that is ending is of another version, or will be replaced.
    if (at(pod, "metadata.deletionTimestamp") !== undefined) continue;
    const imageOf = new Map(mappingsIn(at(pod, "spec.containers")).map(({ name, image }) => [name, image]));
    for (const container of mappingsIn(at(pod, "status.containerStatuses"))) {
      const image = imageOf.get(container["name"]);
      const reason = at(container, "state.waiting.reason");
      if (!images.has(image) || !(imageTriedAgain.has(reason) || final.has(reason))) continue;
      const words = String(at(container, "state.waiting.message") ?? reason).replace(backOffWords, "");
      const because = `pod "${String(at(pod, "metadata.name"))}" cannot pull image "${String(image)}": ${words}`;
      return { kind: final.has(reason) ? "failed" : "failing", because };
    }
  }
  return undefined;
}
