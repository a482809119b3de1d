import { header } from "../../../../api/names.ts";
import type { ReplayRequest } from "../../../../api/schemas/history/call-request.ts";
import { openCallBody } from "../../../calls/call-body.ts";
import { headerPairs, parseCallHeaders } from "../../../calls/call-headers.ts";
import { editBody } from "../../../calls/edit-body.ts";
import { CliError, usageError } from "../../../cli-error.ts";
import type { CommandContext } from "../../../command-context.ts";
import type { CommandSpec } from "../../../command-spec.ts";
import { exitCode } from "../../../exit-code.ts";
import { escapeLine } from "../../../output/escape-text.ts";
import { parseCallWait } from "../../functions/invocation.ts";
import { wholeCallId } from "../call-id.ts";
import { bodyOf, readCallRequest } from "./read-call-request.ts";
import { fromHistory } from "../refuse-history.ts";
import { replayHere } from "./replay-here.ts";
import { writeEnd } from "../write-end.ts";

interface ReplayOptions {
  readonly header?: readonly string[];
  readonly data?: string;
  readonly file?: string;
  readonly edit?: boolean;
  readonly callback?: boolean;
  /** True without a value. */
  readonly wait?: string | true;
  readonly local?: boolean;
}

/** `weir calls replay`. */
export const replayCall: CommandSpec<ReplayOptions> = {
  about:
    "Sends the request of a call that has ended again, as a new call of the function as it is now, and prints its id. The request must have been kept; headers that may hold credentials are not, and have to be given again.",
  arguments: [{ name: "<id>", about: "id of the call", completes: "call" }],
  options: [
    { flags: "-H, --header <line...>", about: "header in place of those of its name; may be repeated" },
    { flags: "-d, --data <text>", about: "another body" },
    { flags: "-f, --file <file>", about: "file with another body; - is standard input" },
    { flags: "--edit", about: "change the body in an editor first" },
    { flags: "--callback", about: "send the callback of the call, too" },
    { flags: "--wait [duration]", about: "wait for the end of the new call, 10m by default, and print its result" },
    { flags: "--local", about: "call the function on the Weir of this directory instead, and compare the replies" },
  ],
  groups: ["gateway"],
  examples: [
    {
      line: 'weir calls replay "$(weir calls wait "$(weir invoke upper --async -d hi)" -o name)" --wait',
      about: "Replays a call whose function keeps requests, and prints the new result",
    },
  ],
  run: async (context, options, [text = ""]) => {
    const wait = parseCallWait(options.wait);
    const sent = parseCallHeaders(options.header ?? []);
    if (options.local === true && (options.callback === true || wait !== undefined))
      throw usageError("Cannot use --local with --callback or --wait: the function is called at once");
    const id = await wholeCallId(context, text, "replay");
    // First, as it may read a password from standard input.
    const gateway = await context.gateway();
    const act = `replay call "${id}"`;
    const body = await otherBody(context, options, async () => readCallRequest(gateway, id, act));
    if (options.local === true) return replayHere(context, { id, act, headers: sent, body });
    const json: ReplayRequest = {
      ...(options.callback === true ? { callback: true } : {}),
      ...(options.header === undefined ? {} : { headers: [...headerPairs(sent)] }),
      ...(body === undefined ? {} : { body: Buffer.from(body).toString("base64") }),
    };
    const reply = await fromHistory(act, () => gateway.accepted("POST", `/system/calls/${id}/replay`, { json }));
    reply.body.resume();
    const newId = String(reply.headers[header.callId.toLowerCase()] ?? "");
    if (newId === "") throw new CliError(exitCode.failed, `Cannot ${act}: the gateway names no new call`);
    if (wait === undefined) return context.output.write(`${escapeLine(newId)}\n`);
    context.output.note(`Call id: ${newId}`);
    await writeEnd(context.output, gateway, newId, { wait, head: false, of: `call "${newId}"` });
  },
};

/** The body that is sent in place of the one that was kept; undefined = none. */
async function otherBody(
  context: CommandContext,
  { data, file, edit = false }: ReplayOptions,
  read: () => ReturnType<typeof readCallRequest>,
): Promise<Uint8Array | undefined> {
  const given = await givenBody(context, data, file);
  if (!edit) return given;
  const request = given === undefined ? await read() : undefined;
  return editBody(context, given ?? (request === undefined ? Buffer.alloc(0) : bodyOf(request)), "body");
}

async function givenBody(
  { terminal }: CommandContext,
  data: string | undefined,
  file: string | undefined,
): Promise<Uint8Array | undefined> {
  if (data === undefined && file === undefined) return undefined;
  const opened = await openCallBody(terminal, { data, file, byInput: false });
  try {
    const { body } = opened.open();
    if (body === undefined || body instanceof Uint8Array) return body ?? Buffer.alloc(0);
    return Buffer.concat(await Array.fromAsync(body as AsyncIterable<Uint8Array>));
  } finally {
    await opened.close();
  }
}
