import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import type { ChangedField } from "./changed-fields.ts";
import type { PlannedDeployment } from "./plan-deployment.ts";
import { rolloutState } from "../rollout/rollout-state.ts";

/** A planned deployment beside what is deployed now. */
export interface ComparedDeployment extends PlannedDeployment {
  /** Undefined: there is no such function. */
  readonly before: FunctionStatus | undefined;
  readonly changes: readonly ChangedField[];
}

export type Change = "create" | "update" | "none";

/** What the deployment does to what is deployed. */
export function changeOf({ before, changes }: Pick<ComparedDeployment, "before" | "changes">): Change {
  if (before === undefined) return "create";
  return changes.length === 0 ? "none" : "update";
}

/**
 * Whether it has to be sent, as what runs is something else. A stalled function is sent again: what kept it from
 * starting may be gone.
 * @param built whether its image was built just now, under a name that an older image may have had
 */
export function hasToBeSent(compared: ComparedDeployment, built: boolean): boolean {
  const { before } = compared;
  if (before === undefined || changeOf(compared) !== "none") return true;
  return (
    (built && compared.build?.isContentTag === false) || rolloutState(before, before.generation).kind === "stalled"
  );
}
