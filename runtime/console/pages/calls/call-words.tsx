import type { CallSummary } from "../../../api/schemas/history/call-summary.ts";
import { StateBadge, type Tone } from "../../parts/texts/state-badge.tsx";

type State = CallSummary["state"];

const tones: Readonly<Record<State, Tone>> = {
  queued: "busy",
  running: "busy",
  waiting: "warn",
  done: "good",
  failed: "bad",
  cancelled: "off",
  unknown: "off",
};

/** The states of calls in the order in which they follow each other. */
export const shownStates = Object.keys(tones) as readonly State[];

/** The state of a call, with a shape and a colour; one that a newer gateway knows is shown by its name. */
export function CallStateBadge({ state }: { readonly state: State }) {
  return <StateBadge tone={(tones as Readonly<Record<string, Tone>>)[state] ?? "off"}>{state}</StateBadge>;
}

/** The name of a function, with its namespace after a dot. */
export function functionOfCall({ functionName, namespace }: Pick<CallSummary, "functionName" | "namespace">): string {
  return `${functionName}.${namespace}`;
}

/** The beginning of an id, by which people tell calls apart. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}
