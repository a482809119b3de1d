import { formatDuration } from "../../api/duration.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { Finding } from "../../api/schemas/doctor-report.ts";
import type { Condition } from "../../api/schemas/function-status.ts";
import { problemOf } from "../functions/conditions.ts";
import { formatRef } from "../functions/function-ref.ts";
import type { ExaminedFunction } from "./doctor-facts.ts";
import { mostOf } from "./most-of.ts";

type Judged = Pick<Finding, "id" | "level" | "sentence" | "advice">;

/** Whether every function can be called, and starts well before `wakeTimeout` (milliseconds) is over. */
export function judgeFunctions(
  functions: readonly ExaminedFunction[],
  wakeTimeout: number,
  now: number,
): readonly Finding[] {
  const judged = (judge: (each: ExaminedFunction) => Judged | undefined): readonly Finding[] =>
    functions.flatMap((each) => {
      const found = judge(each);
      return found === undefined ? [] : [{ ...found, subject: `function "${formatRef(each.wanted)}"` }];
    });
  const state = judged((each) => stateOf(each, wakeTimeout, now));
  return [
    ...(state.length === 0 ? [allWell(functions)] : mostOf(state, "functions")),
    ...mostOf(
      judged((each) => startOf(each, wakeTimeout)),
      "functions",
    ),
  ];
}

/** What keeps a function from being called; undefined: nothing. */
function stateOf({ wanted, facts, endpoints }: ExaminedFunction, wakeTimeout: number, now: number): Judged | undefined {
  const { replicas } = wanted;
  const id = "functions";
  const look = `look at weir describe ${formatRef(wanted)}`;
  if (facts.limits instanceof PlatformError)
    return {
      id,
      level: "problem",
      sentence: `Its calls are refused: ${facts.limits.message}`,
      advice: "correct its annotations and deploy it again",
    };
  const conditions = endpoints?.conditions ?? [];
  const problem = problemOf(conditions);
  if (problem?.kind === "stalled")
    return { id, level: "problem", sentence: `Stalled (${problem.reason}): ${problem.message}`, advice: look };
  const ready = endpoints?.addresses.length ?? 0;
  if (replicas === 0 || ready > 0) return undefined;
  const waited = Math.max(0, now - unreadySince(wanted, conditions));
  const sentence = `None of ${replicas} replicas is ready, for ${formatDuration(seconds(waited))}${because(problem)}`;
  // A replica may take as long as a caller waits for it.
  return waited > wakeTimeout
    ? { id, level: "problem", sentence, advice: look }
    : { id, level: "warning", sentence, advice: "wait until it has started" };
}

/** Unix milliseconds since when replicas are desired and none is ready. */
function unreadySince({ updatedAt, scaled }: ExaminedFunction["wanted"], conditions: readonly Condition[]): number {
  const unready = conditions.find(({ type, status }) => type === "Ready" && status !== "True");
  // Conditions that say True, or are missing, are of the time before replicas were desired.
  return unready === undefined
    ? Math.max(Date.parse(updatedAt), scaled === undefined ? 0 : Date.parse(scaled.at))
    : Date.parse(unready.lastTransitionTime);
}

/** A start that takes most of the time that callers wait. */
function startOf({ wanted, facts, lastStart }: ExaminedFunction, wakeTimeout: number): Judged | undefined {
  if (lastStart === undefined || lastStart <= wakeTimeout / 2) return undefined;
  return {
    id: "starts",
    // Callers wait for each start of a function that is scaled to zero.
    level: facts.scale.zero ? "problem" : "warning",
    sentence: `Its last start took ${formatDuration(seconds(lastStart))}, more than half of wake_timeout ${formatDuration(wakeTimeout)}`,
    advice: facts.scale.zero
      ? `make it start faster, raise wake_timeout, or keep a replica of "${wanted.name}" without com.service.scale.zero`
      : "make it start faster, or raise wake_timeout",
  };
}

function allWell(functions: readonly ExaminedFunction[]): Finding {
  const idle = functions.filter(({ wanted }) => wanted.replicas === 0).length;
  const atZero = idle === 0 ? "" : `, ${idle} of them scaled to zero`;
  const sentence = functions.length === 0 ? "There is none" : `${functions.length} can be called${atZero}`;
  return { id: "functions", level: "ok", subject: "functions", sentence };
}

function because(problem: ReturnType<typeof problemOf>): string {
  return problem === undefined ? "" : `: ${problem.message}`;
}

function seconds(duration: number): number {
  return Math.round(duration / 1_000) * 1_000;
}
