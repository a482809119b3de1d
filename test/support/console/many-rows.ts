import type { AuditRecord } from "../../../runtime/api/schemas/iam/audit.ts";
import type { CallDetail } from "../../../runtime/api/schemas/history/call-detail.ts";
import type { CallSummary } from "../../../runtime/api/schemas/history/call-summary.ts";
import type { DeadLetterView, QueueStatus } from "../../../runtime/api/schemas/queue-status.ts";
import type { DoctorReport } from "../../../runtime/api/schemas/doctor-report.ts";
import type { FunctionRow } from "../../../runtime/api/schemas/watch/function-row.ts";
import type { TimelineStep } from "../../../runtime/api/schemas/history/timeline-step.ts";

/** How many rows a full list has. */
export const manyRows = 10_000;

const start = Date.UTC(2026, 0, 31, 12);
const at = (milliseconds: number): string => new Date(start + milliseconds).toISOString();
const rows = <Row>(count: number, make: (index: number) => Row): Row[] =>
  Array.from({ length: count }, (_, index) => make(index));
const id = (index: number): string => `00000000-0000-4000-8000-${index.toString(16).padStart(12, "0")}`;
const states = ["done", "failed", "queued", "running", "waiting", "cancelled", "unknown"] as const;

/** Names of all lengths that a name may have. */
const name = (index: number): string => `f${index}${"-long-name".repeat(index % 6)}`.slice(0, 63);

/** Rows of functions in all states. */
export const manyFunctions: readonly FunctionRow[] = rows(manyRows, (index) => [
  `${name(index)}.functions`,
  index % 5,
  index % 4,
  (["ready", "scaled_to_zero", "starting", "degraded", "stopping", "stalled"] as const)[index % 6] ?? "ready",
  index / 7,
  index % 3 === 0 ? 0 : index / 70,
  index % 40,
  Math.floor(start / 1_000) - index,
]);

/** The newest first, in all states, some of them with reasons. */
export const manyCalls: readonly CallSummary[] = rows(manyRows, (index): CallSummary => {
  const state = states[index % states.length] ?? "done";
  return {
    callId: id(manyRows - index),
    kind: index % 9 === 0 ? "sync" : "async",
    functionName: name(index),
    namespace: "functions",
    queue: "default",
    state,
    source: "http",
    acceptedAt: at(-index * 1_000),
    retries: index % 11,
    ...(state === "failed" ? { reason: "exhausted", endedAt: at(-index * 1_000 + 500), status: 503 } : {}),
    ...(state === "done"
      ? { endedAt: at(-index * 1_000 + 500), status: 200, durationSeconds: 0.012, waitSeconds: 1.5 }
      : {}),
  };
});

/** A call with 132 runs, most of which failed, and a callback that was tried twice. */
export function longCall(callId: string): CallDetail {
  const attempts = 132;
  const timeline: TimelineStep[] = [{ at: at(0), kind: "accepted" }];
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const begin = attempt * 10_000;
    const last = attempt === attempts;
    timeline.push(
      { at: at(begin), kind: "taken", attempt, worker: "node-1:4711" },
      { at: at(begin + 1_400), kind: "started", attempt, replica: `hello-${attempt % 3}` },
      {
        at: at(begin + 2_000),
        kind: "answered",
        attempt,
        replica: `hello-${attempt % 3}`,
        status: last ? 200 : 503,
        ms: 600,
      },
    );
    if (!last)
      timeline.push({
        at: at(begin + 2_000),
        kind: "retry",
        attempt,
        reason: "answered 503",
        next: at(begin + 10_000),
      });
  }
  const ended = attempts * 10_000 + 2_000;
  timeline.push(
    { at: at(ended), kind: "ended", status: 200 },
    {
      at: at(ended + 10),
      kind: "callbackTry",
      attempt: 1,
      status: 503,
      ms: 40,
      reason: "answered 503",
      next: at(ended + 1_000),
    },
    { at: at(ended + 1_000), kind: "callbackTry", attempt: 2, status: 200, ms: 40 },
    { at: at(ended + 1_040), kind: "callbackEnded", status: 200 },
  );
  return {
    callId,
    kind: "async",
    functionName: "hello",
    namespace: "functions",
    queue: "default",
    state: "done",
    source: "replay",
    acceptedAt: at(0),
    endedAt: at(ended),
    startTime: String(BigInt(start) * 1_000_000n),
    retries: attempts - 1,
    maxRetries: 200,
    attempts: rows(20, (index) => ({
      number: index + 1,
      startedAt: at((index + 1) * 10_000),
      endedAt: at((index + 1) * 10_000 + 2_000),
      status: 503,
      stderrTail: { lines: ["Error: no such order", "    at pay (/home/app/index.js:7:9)"], match: "window" },
    })),
    callback: { url: "https://example.com/done", state: "sent", attempts: 2, status: 200 },
    result: { href: `/async-function/${callId}/result`, status: 200, size: 5, stored: true, expiresAt: at(86_400_000) },
    principal: { subject: "fed:alice", issuer: "https://issuer.example" },
    replayOf: id(1),
    replays: rows(12, (index) => id(index + 2)),
    redrives: 3,
    timeline,
    actions: {
      cancel: `Cannot cancel call "${callId}": it is done`,
      redrive: `Cannot redrive call "${callId}": it is done and has no dead letter`,
      replay: true,
    },
    request: { kept: true, size: 5, expiresAt: at(86_400_000) },
    logs: { kept: true, lines: 0 },
    history: { lagSeconds: 42, complete: false, gaps: [{ from: at(-60_000), to: at(60_000) }] },
  };
}

/** Queues in all states, sorted by name. */
export const manyQueues: readonly QueueStatus[] = rows(manyRows, (index): QueueStatus => ({
  name: `queue-${String(index).padStart(5, "0")}`,
  queued: index % 7,
  waiting: index % 3,
  running: index % 2,
  deadLetters: index % 5,
  workers: index % 4,
  maxInflight: 10,
  timeout: "30s",
  ackWait: "60s",
  oldestAgeSeconds: index * 3.7,
  limit: 1_000_000,
  ...(index % 7 === 0
    ? {}
    : { why: "All slots run calls: start Weir with --max-inflight 20 (now 10) if this takes too long." }),
}));

const reasons = ["exhausted", "crash", "expired", "undecodable", "callback"] as const;

/** Dead letters of all reasons; one that cannot be read has no function. */
export const manyLetters: readonly DeadLetterView[] = rows(manyRows, (index): DeadLetterView => {
  const reason = reasons[index % reasons.length] ?? "crash";
  return {
    callId: id(index),
    ...(reason === "undecodable" ? {} : { functionName: name(index), namespace: "functions" }),
    reason,
    attempts: index % 12,
    ...(reason === "exhausted" ? { lastStatus: 503 } : {}),
    acceptedAt: at(index * 1_000),
    deadAt: at(index * 1_000 + 60_000),
    size: index * 13,
    advice: `No retry was left, the last one ended with status 503: fix function "${name(index)}", then redrive the call, or delete it.`,
  };
});

export const manySecrets = rows(manyRows, (index) => ({ name: `secret-${name(index)}`, namespace: "functions" }));
export const manyNamespaces = rows(manyRows, (index) => `team-${String(index).padStart(5, "0")}`);

/** Changes and refusals, oldest first. */
export const manyRecords: readonly AuditRecord[] = rows(manyRows, (index): AuditRecord => ({
  id: id(index),
  time: at(index * 100),
  ...(index % 4 === 0
    ? { count: 20 }
    : { subject: "fed:alice", issuer: "https://issuer.example", via: "token" as const }),
  action: "Function:Delete",
  resource: `functions:${name(index)}`,
  allowed: index % 3 === 0,
  ...(index % 3 === 0 ? { by: { role: "deployers", policy: "deploy", sid: "1" } } : { code: "forbidden" }),
  status: index % 3 === 0 ? 202 : 403,
  address: "2001:db8:85a3:8d3:1319:8a2e:370:7348",
}));

/** A doctor that finds much. */
export const manyFindings: DoctorReport = {
  checkedAt: at(0),
  parts: rows(40, (index) => ({
    part: `queue-worker of queue-${index}`,
    node: `node-${index}`,
    release: "0.1.0",
    replicas: 3,
    ready: index % 4,
  })),
  findings: rows(60, (index) => ({
    id: "timeouts",
    level: (["ok", "warning", "problem"] as const)[index % 3] ?? "ok",
    subject: `function "${name(index)}.functions"`,
    sentence:
      "exec_timeout 5s ends every call after 6s, before com.service.timeout 20s: exec_timeout 5s (smallest) < com.service.timeout 20s",
    ...(index % 3 === 0 ? {} : { advice: "set exec_timeout to 19s, or com.service.timeout to 6s" }),
  })),
};
