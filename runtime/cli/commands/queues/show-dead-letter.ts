import type { DeadLetterView } from "../../../api/schemas/queue-status.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { localTime } from "../../output/age-text.ts";
import { formatFields } from "../../output/format-fields.ts";
import { isGivenCall, readCallId } from "../calls/call-id.ts";
import { chosenLetters } from "./chosen-letters.ts";
import { letterFunction } from "./list-dead-letters.ts";
import { checkedQueue } from "./queue-name.ts";
import { readDeadLetters, type KeptLetter } from "./read-dead-letters.ts";

interface ShowOptions {
  readonly queue?: string;
}

/** `weir dead-letters show`. */
export const showDeadLetter: CommandSpec<ShowOptions> = {
  about:
    "Shows why a call was given up and what to do about it. A call whose callback was given up, too, has two dead letters.",
  arguments: [{ name: "<id>", about: "id of the call, or at least 6 digits of its beginning" }],
  options: [{ flags: "--queue <name>", about: "the queue that keeps it; every queue is searched if none is named" }],
  groups: ["gateway", "output"],
  examples: [
    {
      line: "weir dead-letters list -o name | xargs -r -n 1 weir dead-letters show",
      about: "What to do about each of them",
    },
  ],
  run: async (context, options, [text = ""]) => {
    const queue = options.queue === undefined ? undefined : checkedQueue(options.queue, "show a dead letter of");
    const given = readCallId(text, "show");
    const gateway = await context.gateway();
    const found = await readDeadLetters(gateway, queue, ({ callId }) => isGivenCall(given, callId));
    const letters = chosenLetters("show", [text], found);
    await context.output.value(
      letters.map(({ letter }) => letter),
      { text: () => letters.map(letterText).join("\n"), name: letters[0]?.letter.callId ?? "" },
    );
  },
};

/** A dead letter for people. */
export function letterText({ queue, letter }: KeptLetter): string {
  return formatFields([
    ["call", letter.callId],
    ["queue", queue],
    ["function", letterFunction(letter)],
    ["reason", letter.reason],
    [timesTitle(letter), String(letter.attempts)],
    ["last status", letter.lastStatus === undefined ? undefined : String(letter.lastStatus)],
    ["accepted", localTime(letter.acceptedAt)],
    ["given up", localTime(letter.deadAt)],
    ["body", `${letter.size} bytes`],
    ["advice", letter.advice],
  ]);
}

function timesTitle({ reason }: DeadLetterView): string {
  return reason === "callback" ? "times sent" : "runs";
}
