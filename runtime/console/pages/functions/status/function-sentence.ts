import type { Condition, FunctionStatus } from "../../../../api/schemas/function-status.ts";
import { stateOfStatus } from "../../../data/functions/state-of-status.ts";
import { functionStateWords } from "../../../data/functions/state-words.ts";
import type { Tone } from "../../../parts/texts/state-badge.tsx";

/** A function in one sentence. */
export interface FunctionSentence {
  readonly tone: Tone;
  /** One or two words. */
  readonly state: string;
  /** What the platform says of it: what a person has to act on first, else how many replicas are ready, and why so many. */
  readonly sentence: string;
}

/** What a function does now, in one sentence made of its conditions. */
export function functionSentence(status: FunctionStatus): FunctionSentence {
  const [state, tone] = functionStateWords[stateOfStatus(status)];
  const of = (type: Condition["type"]): Condition | undefined =>
    status.conditions.find((condition) => condition.type === type);
  const [stalled, ready, healthy, reconciling, scaling] = [
    of("Stalled"),
    of("Ready"),
    of("Healthy"),
    of("Reconciling"),
    of("Scaling"),
  ];
  const said = [
    stalled?.status === "True" ? stalled.message : undefined,
    ready?.message,
    healthy?.status === "False" ? healthy.message : undefined,
    reconciling?.status === "True" && stalled?.status !== "True" ? reconciling.message : undefined,
    scaling?.status === "True" ? scaling.message : undefined,
  ];
  const sentences: string[] = [];
  for (const one of said) {
    // Some conditions repeat what others say.
    const isSaid = one === undefined || sentences.some((each) => each.includes(one) || one.includes(each));
    if (!isSaid && one !== "") sentences.push(one);
  }
  return { tone, state, sentence: sentences.length === 0 ? "Nothing is known of it yet" : sentences.join(". ") };
}

/** How many replicas are ready. */
export function replicaWords({ availableReplicas: ready, replicas }: FunctionStatus): string {
  if (replicas === 0) return ready === 0 ? "No replica is wanted" : `No replica is wanted; ${ready} still run`;
  return replicas === 1 ? `${ready} of 1 replica is ready` : `${ready} of ${replicas} replicas are ready`;
}

/** What a condition means for who looks: some of them are good when they are false. */
export function conditionTone({ type, status }: Condition): Tone {
  if (status === "Unknown") return "off";
  const isTrue = status === "True";
  switch (type) {
    case "Ready":
    case "Healthy":
      return isTrue ? "good" : "warn";
    case "Stalled":
      return isTrue ? "bad" : "good";
    case "Reconciling":
      return isTrue ? "busy" : "good";
    default:
      return "off";
  }
}
