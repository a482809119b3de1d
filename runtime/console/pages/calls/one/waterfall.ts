import type { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import type { TimelineStep } from "../../../../api/schemas/history/timeline-step.ts";

export type SegmentKind = "waiting" | "starting" | "running" | "backOff" | "callback";

/** A stretch of a call's time; Unix milliseconds. */
export interface WaterfallSegment {
  readonly kind: SegmentKind;
  readonly from: number;
  readonly to: number;
  /** It goes on. */
  readonly isOpen: boolean;
  readonly hasFailed: boolean;
}

/** What happened in one run, one try of a callback, or before the first. */
export interface WaterfallRow {
  readonly kind: "queue" | "attempt" | "callback";
  readonly number?: number;
  readonly replica?: string;
  readonly status?: number;
  readonly reason?: string;
  readonly segments: readonly WaterfallSegment[];
}

/** A call's time from its acceptance to its end, or to now. */
export interface Waterfall {
  readonly from: number;
  readonly to: number;
  readonly rows: readonly WaterfallRow[];
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type OpenRow = Mutable<Omit<WaterfallRow, "segments">> & { segments: Mutable<WaterfallSegment>[] };

/** What a call's time went to, from its timeline; `now` is Unix milliseconds. */
export function waterfallOf({ timeline }: Pick<CallDetail, "timeline">, now: number): Waterfall {
  const rows: OpenRow[] = [];
  let open: Mutable<WaterfallSegment> | undefined;
  const close = (at: number, hasFailed = false): void => {
    if (open === undefined) return;
    open.to = Math.max(open.from, at);
    open.isOpen = false;
    open.hasFailed ||= hasFailed;
    open = undefined;
  };
  const begin = (row: OpenRow, kind: SegmentKind, from: number): void => {
    open = { kind, from, to: from, isOpen: true, hasFailed: false };
    row.segments.push(open);
  };
  const rowOf = (kind: OpenRow["kind"], step: TimelineStep): OpenRow => {
    const last = rows.at(-1);
    if (last?.kind === kind && last.number === step.attempt) return last;
    const made: OpenRow = { kind, segments: [], ...(step.attempt === undefined ? {} : { number: step.attempt }) };
    rows.push(made);
    return made;
  };
  for (const step of timeline) {
    const at = Date.parse(step.at);
    switch (step.kind) {
      case "accepted":
      case "redriven":
        close(at);
        begin(rowOf("queue", { at: step.at, kind: step.kind }), "waiting", at);
        break;
      case "taken":
        close(at);
        begin(rowOf("attempt", step), "starting", at);
        break;
      case "started":
        close(at);
        note(rowOf("attempt", { ...step, attempt: step.attempt ?? 1 }), step);
        begin(rowOf("attempt", { ...step, attempt: step.attempt ?? 1 }), "running", at);
        break;
      case "answered":
        // The end of a synchronous call is that of its only run.
        note(rowOf("attempt", { ...step, attempt: step.attempt ?? 1 }), step);
        close(at, (step.status ?? 0) >= 400);
        break;
      case "retry":
      case "lost":
      case "handedBack": {
        close(at, step.kind !== "handedBack");
        const row = rowOf("attempt", step);
        note(row, step);
        const last = row.segments.at(-1);
        if (last !== undefined) last.hasFailed ||= step.kind !== "handedBack";
        begin(row, step.kind === "retry" ? "backOff" : "waiting", at);
        break;
      }
      case "callbackTry": {
        close(at);
        const row = rowOf("callback", step);
        note(row, step);
        begin(row, "callback", at);
        const ends = at + (step.ms ?? 0);
        close(ends, step.reason !== undefined);
        if (step.next !== undefined) begin(row, "backOff", ends);
        break;
      }
      case "callbackEnded":
      case "cancelled":
      case "expired":
      case "ended":
      case "deadLetter":
        close(at, step.kind === "ended" && step.reason !== undefined);
        break;
      default:
        step.kind satisfies never;
    }
  }
  const goesOn: Mutable<WaterfallSegment> | undefined = open;
  if (goesOn !== undefined) goesOn.to = Math.max(goesOn.from, now);
  const times = rows.flatMap(({ segments }) => segments.flatMap(({ from, to }) => [from, to]));
  const from = Math.min(...times, Date.parse(timeline[0]?.at ?? "") || now);
  return { from, to: Math.max(from, ...times), rows };
}

function note(row: OpenRow, { replica, status, reason }: TimelineStep): void {
  if (replica !== undefined) row.replica = replica;
  if (status !== undefined) row.status = status;
  if (reason !== undefined) row.reason = reason;
}
