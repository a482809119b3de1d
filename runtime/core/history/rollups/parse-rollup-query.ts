import { PlatformError } from "../../../api/platform-error.ts";
import { rollupStepNames } from "../../../api/schemas/history/rollups.ts";
import type { FunctionRef } from "../../functions/function-ref.ts";
import type { RollupQuery } from "../../ports/call-history.ts";
import { quote } from "../../quote.ts";
import { namespaceParameter, parseFunction, type NamespaceOf } from "../parse-call-list.ts";
import { parseMoment } from "../parse-moment.ts";
import { rollupSteps, type RollupStep } from "./rollup.ts";

/** The parameters of rollups as they were sent. */
export interface RollupParameters {
  readonly function?: string;
  readonly namespace?: string;
  readonly since?: string;
  readonly until?: string;
  readonly step?: string;
}

/** Which rollups are asked for. */
export interface RollupRequest extends Pick<RollupQuery, "step" | "since" | "until"> {
  /** Undefined = all that may be seen, together. */
  readonly functions?: readonly FunctionRef[];
  readonly namespace?: string;
}

const maxFunctions = 50;
const maxPoints = 1_000;
const hour = 3_600_000;

/**
 * Parses which rollups are asked for: an hour back if nothing says otherwise, in the finest step that fits. Times are
 * rounded to whole intervals. `now` is Unix milliseconds.
 * @throws PlatformError `validation_failed`, naming parameter, value and what is expected
 */
export function parseRollupQuery(parameters: RollupParameters, now: number, namespaceOf: NamespaceOf): RollupRequest {
  const named = namespaceParameter(parameters.namespace);
  const functions = parseFunctions(parameters.function, named, namespaceOf);
  const until = parseMoment("until", parameters.until, now) ?? now;
  const since = parseMoment("since", parameters.since, now) ?? until - hour;
  if (until < since)
    throw unreadable("until", parameters.until ?? "now", `a time after since ${quote(parameters.since ?? "")}`);
  const step = parseStep(parameters.step, { since, until, now });
  const { length } = rollupSteps[step];
  return {
    step,
    since: Math.floor(since / length) * length,
    until: Math.ceil(until / length) * length,
    ...(functions === undefined ? {} : { functions }),
    ...(named === undefined || functions !== undefined ? {} : { namespace: namespaceOf(named) }),
  };
}

function parseFunctions(text: string | undefined, namespace: string | undefined, namespaceOf: NamespaceOf) {
  if (text === undefined || text === "") return undefined;
  const names = [...new Set(text.split(","))];
  if (names.length > maxFunctions)
    throw unreadable("function", text, `at most ${maxFunctions} names, got ${names.length}`);
  return names.map((name) => {
    const ref = parseFunction(name, namespace, namespaceOf);
    if (ref === undefined) throw unreadable("function", text, "names with a comma between them");
    return ref;
  });
}

interface Span {
  readonly since: number;
  readonly until: number;
  readonly now: number;
}

function parseStep(text: string | undefined, span: Span): RollupStep {
  const fitting = fittingStep(span);
  if (text === undefined || text === "") {
    if (fitting === undefined) throw tooLong();
    return fitting;
  }
  const step = rollupStepNames.find((name) => name === text);
  if (step !== undefined && fits(step, span)) return step;
  if (fitting === undefined) throw tooLong();
  if (step === undefined) throw unreadable("step", text, `${rollupStepNames.join(", ")}; ${fitting} fits this time`);
  throw unreadable("step", text, `${fitting}, as ${whyNot(step, span)}`);
}

/** The finest step in which a time has at most 1 000 intervals, all of which are kept. */
function fittingStep(span: Span): RollupStep | undefined {
  return rollupStepNames.find((step) => fits(step, span));
}

function fits(step: RollupStep, span: Span): boolean {
  return countOf(step, span) <= maxPoints && isKept(step, span);
}

function countOf(step: RollupStep, { since, until }: Span): number {
  const { length } = rollupSteps[step];
  return Math.ceil(until / length) - Math.floor(since / length);
}

/** Its first interval may have begun before. */
function isKept(step: RollupStep, { since, now }: Span): boolean {
  const { kept, length } = rollupSteps[step];
  return now - since <= kept + length;
}

function whyNot(step: RollupStep, span: Span): string {
  const points = countOf(step, span);
  if (points > maxPoints) return `a response has at most ${maxPoints} intervals, and this has ${points}`;
  return `intervals of ${step} are kept for ${rollupSteps[step].kept / hour} h`;
}

function tooLong(): PlatformError {
  return new PlatformError(
    "validation_failed",
    `Cannot read since: expected at most ${maxPoints} h before until, and at most ${rollupSteps["1h"].kept / (24 * hour)} days ago`,
  );
}

function unreadable(name: string, text: string, expected: string): PlatformError {
  return new PlatformError("validation_failed", `Cannot read ${name} ${quote(text)}: expected ${expected}`);
}
