import { randomUUID } from "node:crypto";

import { formatDuration } from "../../../api/duration.ts";
import { header } from "../../../api/names.ts";
import { openCallBody, type OpenedBody } from "../../calls/call-body.ts";
import { callPath } from "../../calls/call-target.ts";
import { queueCall } from "../../calls/queue-call.ts";
import { requireOfFunction, sendCall } from "../../calls/send-call.ts";
import { writeReply } from "../../calls/write-reply.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import type { CommandContext } from "../../command-context.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { exitCode } from "../../exit-code.ts";
import { escapeLine } from "../../output/escape-text.ts";
import { writeEnd } from "../calls/write-end.ts";
import { readInvocation, type Invocation, type InvokeFlags } from "./invocation.ts";
import { givenNamespace } from "./named-function.ts";

/**
 * Milliseconds until the head of a function's reply: the longest limit that a function may have (contract §5.2), and
 * the wait for its first replica.
 */
const longestCall = 62 * 60_000;
/** Milliseconds for a gateway to queue a call. */
const queueTimeout = 60_000;

/** `weir invoke`. */
export const invokeFunction: CommandSpec<InvokeFlags> = {
  about:
    "Calls a function and writes its reply to stdout, byte for byte; the id of the call goes to stderr. The body is that of --data, of --file or of standard input. The exit code is 7 if the function replies 400 or more.",
  arguments: [
    { name: "<name[/path]>", about: "function, as in hello, hello.dev, hello/a/b?x=1", completes: "function" },
  ],
  options: [
    { flags: "-d, --data <text>", about: "the body itself" },
    { flags: "-f, --file <file>", about: "file with the body; - is standard input" },
    { flags: "-X, --method <method>", about: "method of the request", fallback: "POST" },
    { flags: "-H, --header <line...>", about: 'header of the request, as in "Accept: text/csv"; may be repeated' },
    { flags: "--query <name=value...>", about: "parameter that is added to the query; may be repeated" },
    { flags: "-i, --include", about: "write status and headers of the reply before its body" },
    { flags: "--async", about: "queue the call and print its id" },
    { flags: "--callback <url>", about: "where the result of a queued call is sent" },
    { flags: "--id <id>", about: "id of the call, a UUID; a queued call runs once under the same id" },
    { flags: "--wait [duration]", about: "wait for a queued call, 10m by default, and print its result" },
  ],
  groups: ["gateway", "namespace"],
  examples: [
    { line: "weir invoke hello -d hi", about: "POSTs a short body" },
    {
      line: `echo '{"n":1}' | weir invoke hello -H 'Content-Type: application/json'`,
      about: "The body comes from a program",
    },
    { line: "weir invoke hello/orders/7 -X PUT --query dry=true -i -d hi", about: "With path, method and query" },
    { line: "weir invoke upper --async -d hi", about: "Queues the call and prints its id" },
    { line: "weir invoke upper --async --wait -d hi", about: "Queues it, waits for its end, prints what it returned" },
  ],
  run: async (context, options, [text = ""]) => {
    const invocation = readInvocation(text, options);
    const namespace = await givenNamespace(context, invocation.target, options.namespace);
    // First, as it may read a password from standard input.
    const gateway = await context.gateway();
    const body = await openCallBody(context.terminal, invocation.bodySource);
    const sending = { context, gateway, invocation, body, path: callPath({ ...invocation.target, namespace }) };
    try {
      await (invocation.queued === undefined ? callNow(sending) : callLater(sending, invocation.queued.wait));
    } finally {
      await body.close();
    }
  },
};

/** A call that is about to be sent. */
interface Sending {
  readonly context: CommandContext;
  readonly gateway: GatewayClient;
  readonly invocation: Invocation;
  readonly body: OpenedBody;
  /** Below the prefix of its route. */
  readonly path: string;
}

async function callNow({ context, gateway, invocation, body, path }: Sending): Promise<void> {
  const { head, id, method, target } = invocation;
  const headers = id === undefined ? invocation.headers : { ...invocation.headers, [header.callId.toLowerCase()]: id };
  const timeout = context.timeout(longestCall);
  const call = { method, path: `/function/${path}`, headers, body, timeout };
  const reply = await sendCall(gateway, call);
  body.release();
  noteCallId(context, String(reply.headers[header.callId.toLowerCase()] ?? ""));
  await requireOfFunction(gateway, call, reply);
  await writeReply(context.output, reply, { head, of: `function "${target.name}"` });
  if (reply.status < 400) return;
  throw new CliError(exitCode.functionFailed, `Function "${target.name}" replied ${reply.status}`);
}

async function callLater(
  { context, gateway, invocation, body, path }: Sending,
  wait: number | undefined,
): Promise<void> {
  const { head, headers, id = randomUUID(), method, target } = invocation;
  const timeout = context.timeout(queueTimeout);
  const call = { method, path: `/async-function/${path}`, headers, body, timeout };
  const used = await queueCall(gateway, call, id, {
    timeout,
    signal: context.terminal.signal,
    onUnknown: () =>
      context.output.note(
        `The gateway does not know whether the call is queued; sending it again, for ${formatDuration(timeout)} at most`,
      ),
  });
  if (wait === undefined) return context.output.write(`${used}\n`);
  noteCallId(context, used);
  await writeEnd(context.output, gateway, used, { wait, head, of: `function "${target.name}"` });
}

function noteCallId({ output }: CommandContext, id: string): void {
  if (id !== "") output.note(`Call id: ${escapeLine(id)}`);
}
