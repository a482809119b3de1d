import { formatDuration } from "../../api/duration.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { Finding } from "../../api/schemas/doctor-report.ts";
import { execMargin, timeoutAnnotation } from "../functions/function-limits.ts";
import { formatRef } from "../functions/function-ref.ts";
import type { QueueDeclaration } from "../ports/queue-catalog.ts";
import type { ExaminedFunction, ExaminedTimes } from "./doctor-facts.ts";
import { mostOf } from "./most-of.ts";

/** One limit of a call, by the name of what sets it; milliseconds. */
interface Link {
  readonly name: string;
  readonly limit: number;
}

type Cut = Pick<Finding, "level" | "sentence" | "advice">;

/** Whether a limit of contract §5.2 is ended by another one before it is reached, for every function. */
export function judgeTimeouts(
  functions: readonly ExaminedFunction[],
  times: ExaminedTimes,
  queues: readonly QueueDeclaration[],
): readonly Finding[] {
  const byName = new Map(queues.map((queue) => [queue.name, queue]));
  const found = functions.flatMap((each) => {
    const cut = cutOf(each, times, byName);
    return cut === undefined ? [] : [{ id: "timeouts", subject: `function "${formatRef(each.wanted)}"`, ...cut }];
  });
  const bad = [...mostOf(found, "functions"), ...cutByStop(functions, times)];
  if (bad.length > 0) return bad;
  const { upstreamTimeout, timeoutMax, wakeTimeout } = times;
  const limits = [
    { name: "upstream_timeout", limit: upstreamTimeout },
    { name: "wake_timeout", limit: wakeTimeout },
    { name: "timeout_max", limit: timeoutMax },
  ].map(text);
  return [
    {
      id: "timeouts",
      level: "ok",
      subject: "timeouts",
      sentence: `No limit of a call cuts another: ${limits.join(", ")}`,
    },
  ];
}

/** The first limit of a function that another one cuts. */
function cutOf(
  { facts }: ExaminedFunction,
  { upstreamTimeout, timeoutMax }: ExaminedTimes,
  queues: ReadonlyMap<string, QueueDeclaration>,
): Cut | undefined {
  const { limits } = facts;
  if (limits instanceof PlatformError) return undefined;
  const { execTimeout, timeout } = limits;
  const queue = queues.get(limits.queue);
  const own: Link = timeout === undefined ? { name: "upstream_timeout", limit: upstreamTimeout } : ownLink(timeout);
  const most: Link = { name: "timeout_max", limit: timeoutMax };
  if (own.limit > most.limit)
    return {
      level: "problem",
      sentence: `${text(most)} ends every call before ${text(own)}: ${chain(own, most)}`,
      advice: `raise timeout_max to ${formatDuration(own.limit)}, or lower ${own.name}`,
    };
  if (execTimeout === undefined) return undefined;
  const exec: Link = { name: "exec_timeout", limit: execTimeout };
  const end = execTimeout + execMargin;
  if (timeout !== undefined && end < own.limit)
    return {
      level: "problem",
      sentence: `${text(exec)} ends every call after ${formatDuration(end)}, before ${text(own)}: ${chain(exec, own, most)}`,
      advice: `set exec_timeout to ${formatDuration(own.limit - execMargin)}, or ${own.name} to ${formatDuration(end)}`,
    };
  // Without its queue it is not known how long a queued run may take.
  if (exec.limit <= own.limit || queue === undefined) return undefined;
  const links = [own, exec, { name: `timeout of queue "${queue.name}"`, limit: queue.timeout }];
  // A queued run ends at the longer of both.
  if (exec.limit > Math.max(own.limit, queue.timeout))
    return {
      level: "problem",
      sentence: `${text(own)} ends every call before ${text(exec)} is over: ${chain(...links)}`,
      advice: `set ${timeoutAnnotation} to ${formatDuration(end)}, or exec_timeout to ${formatDuration(own.limit)}`,
    };
  return {
    level: "warning",
    sentence: `${text(own)} ends synchronous calls before ${text(exec)} is over; queued ones may take it: ${chain(...links)}`,
    advice: `set ${timeoutAnnotation} to ${formatDuration(end)} if it is called synchronously`,
  };
}

/** A stopping gateway cuts the calls that are longer than its drain. */
function cutByStop(functions: readonly ExaminedFunction[], { drainTimeout, timeoutMax }: ExaminedTimes): Finding[] {
  const longer = functions.flatMap(({ wanted, facts: { limits } }) => {
    if (limits instanceof PlatformError) return [];
    const { timeout = 0, execTimeout = Number.POSITIVE_INFINITY } = limits;
    const limit = Math.min(timeout, timeoutMax, execTimeout + execMargin);
    return limit > drainTimeout ? [{ name: `"${formatRef(wanted)}"`, limit }] : [];
  });
  const longest = longer.toSorted((a, b) => b.limit - a.limit);
  const [first] = longest;
  if (first === undefined) return [];
  const names = longest.slice(0, 3).map(text).join(", ");
  const others = longest.length > 3 ? ` and ${longest.length - 3} more` : "";
  return [
    {
      id: "timeouts",
      level: "warning",
      subject: "drain_timeout",
      sentence: `A gateway that stops cuts calls after drain_timeout ${formatDuration(drainTimeout)}, before those of ${names}${others} are over`,
      advice: `set drain_timeout to ${formatDuration(first.limit)}`,
    },
  ];
}

function ownLink(limit: number): Link {
  return { name: timeoutAnnotation, limit };
}

function text({ name, limit }: Link): string {
  return `${name} ${formatDuration(limit)}`;
}

/** The limits in ascending order, the smallest one marked. */
function chain(...links: readonly Link[]): string {
  const [smallest, ...others] = links.toSorted((a, b) => a.limit - b.limit);
  return smallest === undefined ? "" : [`${text(smallest)} (smallest)`, ...others.map(text)].join(" < ");
}
