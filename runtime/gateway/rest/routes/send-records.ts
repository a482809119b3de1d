import type { FastifyReply, FastifyRequest } from "fastify";

import { lastMomentOf } from "../../calls/last-moment.ts";
import { failedExchange, type ErrorWriter } from "../../error-handler.ts";
import type { LogStream } from "../log-streams.ts";

/** Whom records are sent to, and how a failure is told. */
export interface RecordReceiver {
  readonly request: Pick<FastifyRequest, "raw">;
  readonly reply: Pick<FastifyReply, "raw" | "header" | "getHeaders" | "hijack">;
  readonly principal: Parameters<typeof lastMomentOf>[0];
  readonly errors: ErrorWriter;
}

/**
 * Takes the response over and sends the records of `read` as NDJSON until `isThere` resolves to false, the sender's
 * token expires, or they end. Never rejects: a failure is written as far as that is still possible.
 */
export async function sendRecords(
  stream: LogStream,
  { request, reply, principal, errors }: RecordReceiver,
  read: (signal: AbortSignal) => AsyncIterable<object>,
  isThere: () => Promise<boolean> = async () => true,
): Promise<void> {
  reply.header("content-type", "application/x-ndjson");
  const headers = Object.fromEntries(
    Object.entries(reply.getHeaders()).map(([header, value]) => [header, String(value)]),
  );
  reply.hijack();
  await stream
    .send(reply.raw, headers, read, isThere, lastMomentOf(principal))
    .catch((err: unknown) => errors.writeError(failedExchange(request.raw, reply.raw), err, { audience: "operator" }));
}
