import type { CallRequest } from "../../../../api/schemas/history/call-request.ts";
import type { CommandSpec } from "../../../command-spec.ts";
import { escapeLine } from "../../../output/escape-text.ts";
import { wholeCallId } from "../call-id.ts";
import { bodyOf, readCallRequest } from "./read-call-request.ts";

interface RequestOptions {
  readonly include?: boolean;
}

/** `weir calls request`. */
export const showCallRequest: CommandSpec<RequestOptions> = {
  about:
    "Prints the body of the request of a call that has ended, byte for byte. It is kept in a dead letter, and for as long as annotation com.service.history.bodies of the function says.",
  arguments: [{ name: "<id>", about: "id of the call", completes: "call" }],
  options: [{ flags: "-i, --include", about: "write method, path and headers of the request before its body" }],
  groups: ["gateway"],
  examples: [
    {
      line: 'weir calls request "$(weir calls wait "$(weir invoke upper --async -d hi)" -o name)" -i',
      about: "What a call was sent, whose function keeps requests",
    },
  ],
  run: async (context, { include = false }, [text = ""]) => {
    const act = "show the request of";
    const id = await wholeCallId(context, text, act);
    const request = await readCallRequest(await context.gateway(), id, `${act} call "${id}"`);
    if (include) await context.output.write(headOf(request));
    await context.output.write(bodyOf(request));
    if (request.redacted.length > 0) context.output.note(`Headers that are not kept: ${request.redacted.join(", ")}`);
  },
};

function headOf({ method, path, query, headers }: CallRequest): string {
  const target = `${path === "" ? "/" : path}${query === undefined ? "" : `?${query}`}`;
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1] ?? ""}`] : []));
  return [`${method} ${target} HTTP/1.1`, ...lines].map((line) => `${escapeLine(line)}\r\n`).join("") + "\r\n";
}
