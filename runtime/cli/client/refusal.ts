import { STATUS_CODES } from "node:http";

import { CliError } from "../cli-error.ts";
import { exitCode, type ExitCode } from "../exit-code.ts";
import { hintFor } from "../hints.ts";
import { escapeLine } from "../output/escape-text.ts";
import type { GatewayReply } from "./gateway-reply.ts";
import { readStartOf } from "./read-limited.ts";

/** Most bytes of an error's body that are read. */
const mostText = 16_384;

/** A gateway's refusal (contract §1.7) as an error: its sentence, and the exit code of its status. */
export async function refusal(address: string, method: string, path: string, reply: GatewayReply): Promise<CliError> {
  const text = await readStartOf(reply.body, mostText);
  reply.body.destroy();
  const { code, detail } = problemIn(text);
  const { status } = reply;
  const plain = text.trim();
  const isText = String(reply.headers["content-type"] ?? "").startsWith("text/plain");
  const sentence =
    detail ??
    (isText && plain !== "" && !plain.includes("\n")
      ? plain
      : `Cannot ${method} ${path} at ${address}: it replied ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd());
  return new CliError(exitOfStatus(status), escapeLine(sentence), { code, hint: hintFor(code ?? "", address) });
}

/** The exit code for a status of 300 or more. */
export function exitOfStatus(status: number): ExitCode {
  switch (status) {
    case 401:
    case 403:
      return exitCode.credentials;
    case 404:
      return exitCode.notFound;
    case 429:
    case 503:
      return exitCode.unavailable;
    default:
      return exitCode.failed;
  }
}

/** Code and sentence of `application/problem+json`; neither when it is something else. */
function problemIn(text: string): { readonly code?: string; readonly detail?: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return {};
    const { code, detail } = value as { readonly code?: unknown; readonly detail?: unknown };
    return {
      ...(typeof code === "string" ? { code } : {}),
      ...(typeof detail === "string" && detail !== "" ? { detail } : {}),
    };
  } catch {
    return {};
  }
}
