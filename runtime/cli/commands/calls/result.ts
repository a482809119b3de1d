import { header } from "../../../api/names.ts";
import { writeReply } from "../../calls/write-reply.ts";
import { CliError } from "../../cli-error.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { exitCode } from "../../exit-code.ts";
import { wholeCallId } from "./call-id.ts";

/** `weir calls result`. */
export const callResult: CommandSpec = {
  about:
    "Prints the output of a queued call that has ended, byte for byte. The exit code is 7 if the function replied 400 or more.",
  arguments: [{ name: "<id>", about: "id of the call", completes: "call" }],
  groups: ["gateway"],
  examples: [
    {
      line: 'weir calls result "$(weir calls wait -o name "$(weir invoke upper --async -d hi)")"',
      about: "Queues a call, waits for its end, and prints what the function replied",
    },
  ],
  run: async (context, _options, [text = ""]) => {
    const id = await wholeCallId(context, text, "read the result of");
    const gateway = await context.gateway();
    const reply = await gateway.accepted("GET", `/async-function/${id}/result`).catch((err: unknown) => {
      if (!(err instanceof CliError) || err.code !== "call_not_finished") throw err;
      throw new CliError(err.exit, err.message, { code: err.code, cause: err, hint: `weir calls wait ${id}` });
    });
    await writeReply(context.output, reply, { head: false, of: `call "${id}"` });
    const status = Number(reply.headers[header.functionStatus.toLowerCase()]);
    if (status >= 400) throw new CliError(exitCode.functionFailed, `The function of call "${id}" replied ${status}`);
  },
};
