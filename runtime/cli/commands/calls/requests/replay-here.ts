import { isUtf8 } from "node:buffer";

import { header, isProxyHeader } from "../../../../api/names.ts";
import type { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import type { CallRequest } from "../../../../api/schemas/history/call-request.ts";
import { fixedBody } from "../../../calls/call-body.ts";
import { headersOf, type CallHeaders } from "../../../calls/call-headers.ts";
import { requireOfFunction, sendCall } from "../../../calls/send-call.ts";
import { CliError } from "../../../cli-error.ts";
import type { GatewayClient } from "../../../client/gateway-client.ts";
import { limitedChunks } from "../../../client/read-limited.ts";
import { readList, readOne } from "../../../client/read-reply.ts";
import { callDetailReply, functionNameReply, secretReply } from "../../../client/reply-kinds.ts";
import type { CommandContext } from "../../../command-context.ts";
import { exitCode } from "../../../exit-code.ts";
import { namedGateway } from "../../../gateways/choose-gateway.ts";
import { findLocalWeir, localCredentials } from "../../../gateways/local-weir.ts";
import { counted } from "../../../output/counted.ts";
import { escapeText } from "../../../output/escape-text.ts";
import { bodyOf, readCallRequest } from "./read-call-request.ts";

/** Milliseconds until the head of the function's reply, as `weir invoke` waits. */
const longestCall = 62 * 60_000;
/** Bytes of a reply that are compared. */
const mostCompared = 16 * 1024 * 1024;

/** What is sent of a kept request, and in place of it. */
export interface LocalReplay {
  readonly id: string;
  /** Completes the sentence `Cannot <act>`. */
  readonly act: string;
  readonly headers: CallHeaders;
  readonly body: Uint8Array | undefined;
}

/** What a function replied, as far as it is known. */
interface KnownReply {
  readonly status: number | undefined;
  readonly seconds: number | undefined;
  readonly body: Uint8Array | undefined;
}

/**
 * Sends the request of a call to its function on the Weir of this directory, and shows what it replies beside what the
 * call got.
 * @throws CliError also when the function replies 400 or more
 */
export async function replayHere(context: CommandContext, replay: LocalReplay): Promise<void> {
  const gateway = await context.gateway();
  const request = await readCallRequest(gateway, replay.id, replay.act);
  const detail = await readOne(gateway, `/system/calls/${replay.id}`, callDetailReply);
  const here = await localGateway(context, replay.act);
  await nameMissing(context, { gateway, here, detail, redacted: unsent(request, replay.headers) });
  const [stored, got] = [await storedReply(gateway, detail), await replyHere(here, detail, request, replay)];
  await context.output.write(compared(context, stored, got));
  if ((got.status ?? 0) < 400) return;
  throw new CliError(exitCode.functionFailed, `Function "${detail.functionName}" replied ${got.status}`);
}

async function localGateway(context: CommandContext, act: string): Promise<GatewayClient> {
  const { directory, uid } = context.terminal;
  const local = await findLocalWeir(directory, uid);
  if (local?.address === undefined) {
    const sentence = `Cannot ${act} here: no Weir of this directory runs`;
    throw new CliError(exitCode.unavailable, sentence, { hint: "weir dev" });
  }
  return context.connect(namedGateway(local.address, ".weir/address"), await localCredentials(local, uid));
}

function unsent({ redacted }: CallRequest, sent: CallHeaders): readonly string[] {
  return redacted.filter((name) => sent[name] === undefined);
}

/** Before it runs: what the function had, and has not here. */
async function nameMissing(
  { output }: CommandContext,
  parts: {
    readonly gateway: GatewayClient;
    readonly here: GatewayClient;
    readonly detail: CallDetail;
    readonly redacted: readonly string[];
  },
): Promise<void> {
  const { gateway, here, detail, redacted } = parts;
  const { functionName: name, namespace } = detail;
  const query = { namespace };
  // Whoever may see a call need not see its function.
  const known = await readOne(gateway, `/system/function/${name}`, functionNameReply, { query }).catch(orNothing);
  const secrets = known?.secrets ?? [];
  const there = secrets.length === 0 ? [] : await readList(here, "/system/secrets", secretReply, { query });
  const missing = secrets.filter((secret) => there.every((each) => each.name !== secret));
  if (missing.length > 0) output.warn(`The function has secrets that are not here: ${missing.join(", ")}`);
  if (redacted.length > 0) output.warn(`Headers that are not kept, and not sent without -H: ${redacted.join(", ")}`);
}

function orNothing(err: unknown): undefined {
  if (!(err instanceof CliError)) throw err;
}

async function storedReply(gateway: GatewayClient, { callId, attempts }: CallDetail): Promise<KnownReply> {
  const last = attempts.at(-1);
  const facts = { status: last?.status, seconds: last?.durationSeconds };
  const reply = await gateway.accepted("GET", `/async-function/${callId}/result`).catch(orNothing);
  if (reply === undefined) return { ...facts, body: undefined };
  const status = Number(reply.headers[header.functionStatus.toLowerCase()]);
  return {
    ...facts,
    ...(Number.isNaN(status) ? {} : { status }),
    body: await wholeBody(reply.body, "the stored result"),
  };
}

async function replyHere(
  here: GatewayClient,
  { functionName: name, namespace }: CallDetail,
  request: CallRequest,
  { headers, body }: LocalReplay,
): Promise<KnownReply> {
  const { method, path, query } = request;
  const isOfGateway = (lowerName: string) => isProxyHeader(lowerName) || headers[lowerName] !== undefined;
  const call = {
    method,
    path: `/function/${name}.${namespace}${path}${query === undefined ? "" : `?${query}`}`,
    headers: { ...headersOf(request.headers, isOfGateway), ...headers },
    body: fixedBody(body ?? bodyOf(request)),
    timeout: longestCall,
  };
  const startedAt = performance.now();
  const reply = await sendCall(here, call);
  await requireOfFunction(here, call, reply);
  const whole = await wholeBody(reply.body, `the reply of function "${name}"`);
  return { status: reply.status, seconds: (performance.now() - startedAt) / 1_000, body: whole };
}

async function wholeBody(body: Parameters<typeof limitedChunks>[0], what: string): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(limitedChunks(body, mostCompared, what)));
}

function compared({ output }: CommandContext, stored: KnownReply, got: KnownReply): string {
  const rows = [
    { what: "status", of: ({ status }: KnownReply) => String(status ?? "") },
    { what: "time", of: ({ seconds }: KnownReply) => (seconds === undefined ? "" : `${seconds.toFixed(3)}s`) },
    { what: "body", of: ({ body }: KnownReply) => (body === undefined ? "not kept" : counted(body.length, "byte")) },
  ];
  const table = output.table<(typeof rows)[number]>(
    [
      { title: "", cell: ({ what }) => what },
      { title: "STORED", cell: ({ of }) => of(stored) },
      { title: "HERE", cell: ({ of }) => of(got) },
    ],
    rows,
  );
  if (stored.body === undefined || got.body === undefined) return `${table}\nHERE\n${shown(got.body)}`;
  if (Buffer.compare(stored.body, got.body) === 0) return `${table}\nThe bodies are the same\n`;
  return `${table}\nSTORED\n${shown(stored.body)}\nHERE\n${shown(got.body)}`;
}

function shown(body: Uint8Array = Buffer.alloc(0)): string {
  if (!isUtf8(body)) return "(not text)\n";
  const text = escapeText(Buffer.from(body).toString("utf8"));
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
