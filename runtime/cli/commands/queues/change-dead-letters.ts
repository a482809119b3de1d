import { CliError, usageError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { runLimited } from "../../client/run-limited.ts";
import type { CommandContext } from "../../command-context.ts";
import type { OptionSpec } from "../../command-spec.ts";
import { exitCode } from "../../exit-code.ts";
import { counted } from "../../output/counted.ts";
import { isGivenCall, readCallId } from "../calls/call-id.ts";
import { chosenLetters } from "./chosen-letters.ts";
import { deadLetterOptions, fitsFilter, readFilter, type DeadLetterOptions } from "./dead-letter-filter.ts";
import { outcomeLine, refusalLines, type LetterOutcome } from "./letter-outcomes.ts";
import { checkedQueue } from "./queue-name.ts";
import { readDeadLetters, type KeptLetter } from "./read-dead-letters.ts";

export interface ChangeOptions extends DeadLetterOptions {
  readonly all?: boolean;
}

export const changeOptions: readonly OptionSpec[] = [
  { flags: "--all", about: "all that the options below fit, instead of single ones" },
  ...deadLetterOptions,
];

/** What is done with dead letters. */
export interface LetterChange {
  readonly act: "redrive" | "delete";
  /** The word for success. */
  readonly done: "redriven" | "deleted";
  /** Whether single ones are asked for, too. */
  readonly alwaysAsks: boolean;
  readonly method: "POST" | "DELETE";
  /** Follows the path of a dead letter. */
  readonly suffix: "" | "/redrive";
}

/** Requests at once. */
const atOnce = 8;

/**
 * Redrives or deletes dead letters by the ids of their calls, or all that options fit, and prints how many.
 * @throws CliError with exit code 1 and the reasons when any was refused
 */
export async function changeDeadLetters(
  context: CommandContext,
  change: LetterChange,
  options: ChangeOptions,
  ids: readonly string[],
): Promise<void> {
  const letters = onePerCall(await findLetters(context, change, options, ids));
  if (options.all === true || change.alwaysAsks) {
    const question = `${change.act === "redrive" ? "Redrive" : "Delete"} ${counted(letters.length, "dead letter")}?`;
    if (letters.length > 0 || !context.mayAsk) await context.confirm(question);
  }
  const gateway = await context.gateway();
  const outcomes: LetterOutcome[] = [];
  try {
    await runLimited(letters, atOnce, async (letter) => {
      outcomes.push(await changeLetter(gateway, change, letter));
    });
  } finally {
    await context.output.write(`${outcomeLine(change.done, outcomes)}\n`);
  }
  const reasons = refusalLines(outcomes);
  if (reasons.length > 0) throw new CliError(exitCode.failed, reasons.join("\n"));
}

/** Checks that ids and options agree, and reads the dead letters that they mean. */
async function findLetters(
  context: CommandContext,
  { act }: LetterChange,
  options: ChangeOptions,
  ids: readonly string[],
): Promise<readonly KeptLetter[]> {
  checkSelection(act, options, ids);
  const queue = options.queue === undefined ? undefined : checkedQueue(options.queue, `${act} dead letters of`);
  const given = ids.map((text) => readCallId(text, act));
  const filter = await readFilter(context, options);
  const gateway = await context.gateway();
  if (options.all === true) return readDeadLetters(gateway, queue, (letter) => fitsFilter(filter, letter));
  const fits = ({ callId }: KeptLetter["letter"]): boolean => given.some((id) => isGivenCall(id, callId));
  return chosenLetters(act, ids, await readDeadLetters(gateway, queue, fits));
}

/** @throws CliError unless there are ids, or `--all` */
function checkSelection(act: string, options: ChangeOptions, ids: readonly string[]): void {
  const refuse = (reason: string): never => {
    throw usageError(`Cannot ${act} dead letters: ${reason}`);
  };
  if (options.all === true && ids.length > 0) refuse("give ids or --all, not both");
  if (options.all === true) return;
  if (options.function !== undefined || options.reason !== undefined)
    refuse("--function and --reason choose among --all");
  if (ids.length === 0) refuse("give ids of calls, or --all");
}

/** A call and its callback may both have been given up: one request deals with both. */
function onePerCall(letters: readonly KeptLetter[]): readonly KeptLetter[] {
  return [...new Map(letters.map((each) => [`${each.queue} ${each.letter.callId}`, each])).values()];
}

/** Codes of refusals for want of room, which concern one call and not the gateway. */
const noRoom: ReadonlySet<string | undefined> = new Set(["queue_full", "store_full"]);

async function changeLetter(
  gateway: GatewayClient,
  { method, suffix }: LetterChange,
  { queue, letter }: KeptLetter,
): Promise<LetterOutcome> {
  const { callId } = letter;
  try {
    await gateway.accepted(method, `/system/queue/${queue}/dead-letters/${encodeURIComponent(callId)}${suffix}`);
    return { kind: "done" };
  } catch (err) {
    if (!(err instanceof CliError) || err.code === undefined) throw err;
    const ofThisCall = err.exit === exitCode.failed || err.exit === exitCode.notFound || noRoom.has(err.code);
    if (!ofThisCall) throw err;
    return { kind: "refused", callId, sentence: err.message };
  }
}
