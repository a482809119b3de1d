import { setTimeout as pause } from "node:timers/promises";

import { formatDuration } from "../../../api/duration.ts";
import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { exitCode } from "../../exit-code.ts";
import { escapeLine } from "../../output/escape-text.ts";
import { recentLines } from "./recent-lines.ts";
import { readDeployed } from "../read-deployed.ts";
import { rolloutState, type RolloutState } from "./rollout-state.ts";
import { settleEach, type Settled } from "../settle-each.ts";

/** A deployment that the gateway has. */
export interface SentDeployment {
  readonly deployment: FunctionDeployment;
  readonly generation: number;
  /** When it was sent, by the gateway's clock (RFC 3339); undefined: it was there before. */
  readonly sentAt: string | undefined;
}

interface ReadyWait {
  readonly gateway: GatewayClient;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Gets a line each time that the state of a function changes. */
  readonly progress: (line: string) => void;
  readonly now?: () => number;
}

/** Milliseconds between two looks. */
const interval = 250;

/**
 * Waits until these generations are ready, and yields what comes of each as soon as it is known: its status, or why it
 * is not ready. One that is stalled does not end the wait for the others.
 */
export async function* awaitReady(
  sent: readonly SentDeployment[],
  { gateway, timeout, signal, progress, now = Date.now }: ReadyWait,
): AsyncGenerator<FunctionStatus | CliError> {
  const deadline = now() + timeout;
  const shown = new Map<SentDeployment, string>();
  for (let pending = sent; pending.length > 0;) {
    const isOver = now() >= deadline;
    const waiting: SentDeployment[] = [];
    const looks = await settleEach(pending, async ({ deployment, generation }) =>
      rolloutState(await readDeployed(gateway, deployment), generation),
    );
    for (const look of looks) {
      const { item } = look;
      const state = stateOf(look);
      const message = progressOf(state);
      if (message !== undefined && shown.get(item) !== message) {
        progress(`${item.deployment.service}: ${escapeLine(message)}`);
        shown.set(item, message);
      }
      if (state.kind === "waiting" && !isOver) waiting.push(item);
      else yield await outcomeOf(item, state, gateway, timeout);
    }
    pending = waiting;
    if (pending.length > 0) await pause(interval, undefined, { signal });
  }
}

/** A gateway that is away for a moment may come back in time. */
function stateOf(look: Settled<SentDeployment, RolloutState>): RolloutState {
  if (look.kind === "done") return look.result;
  const { exit, message } = look.error;
  return { kind: exit === exitCode.unavailable ? "waiting" : "replaced", message };
}

/** Undefined: the error says it. */
function progressOf(state: RolloutState): string | undefined {
  switch (state.kind) {
    case "ready":
      return "ready";
    case "waiting":
      return state.message;
    case "stalled":
    case "replaced":
      return undefined;
    default:
      return state satisfies never;
  }
}

async function outcomeOf(
  { deployment, sentAt }: SentDeployment,
  state: RolloutState,
  gateway: GatewayClient,
  timeout: number,
): Promise<FunctionStatus | CliError> {
  const failure = `Cannot get function "${deployment.service}" ready`;
  const [first = "", ...written] = state.kind === "ready" ? [] : state.message.split("\n");
  const quoted = written.map((line) => `\n  ${escapeLine(line)}`).join("");
  const why = escapeLine(first) + quoted;
  switch (state.kind) {
    case "ready":
      return state.status;
    case "replaced":
      return new CliError(exitCode.failed, `${failure}: ${why}`);
    case "waiting":
      return new CliError(exitCode.timeout, `${failure} in ${formatDuration(timeout)}: ${why}`);
    case "stalled": {
      // Those that the reason quotes are not shown twice.
      const lines = written.length > 0 ? [] : await recentLines(gateway, deployment, sentAt);
      const last = lines.length === 0 ? "" : `\nIts last lines:\n${lines.map((line) => `  ${line}`).join("\n")}`;
      return new CliError(exitCode.failed, `${failure}: ${why}${last}`);
    }
    default:
      return state satisfies never;
  }
}
