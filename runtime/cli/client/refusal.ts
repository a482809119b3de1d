import { STATUS_CODES } from "node:http";

import { CliError } from "../cli-error.ts";
import { exitCode, type ExitCode } from "../exit-code.ts";
import { hintFor } from "../hints.ts";
import { escapeLine } from "../output/escape-text.ts";
import type { GatewayReply } from "./gateway-reply.ts";
import { discardBody, readStartOf } from "./read-limited.ts";

/** Most bytes of an error's body that are read. */
const mostText = 16_384;
/** Most characters of an address in a sentence. */
const mostLocation = 200;

/** A gateway's refusal (contract §1.7) as an error: its sentence, and the exit code of its status. */
export async function refusal(address: string, method: string, path: string, reply: GatewayReply): Promise<CliError> {
  const text = await readStartOf(reply.body, mostText);
  discardBody(reply.body);
  const { code, detail } = problemIn(text);
  const { status } = reply;
  const plain = text.trim();
  const isText = String(reply.headers["content-type"] ?? "").startsWith("text/plain");
  const isSentence = isText && plain !== "" && !plain.includes("\n");
  // A gateway's own refusals have a code, or are a sentence such as "Cannot find …".
  const isForeign =
    code === undefined && (status === 404 || status === 405) && !(isSentence && plain.startsWith("Cannot "));
  const sentence =
    detail ??
    (isSentence && !isForeign
      ? plain
      : `Cannot ${method} ${path} at ${address}: ${replied(reply)}${isForeign ? "; is it not a Weir gateway?" : ""}`);
  // A proxy in front knows no codes.
  const hint = hintFor(code ?? (status === 401 ? "credentials_required" : ""), address);
  return new CliError(isForeign ? exitCode.failed : exitOfStatus(status), escapeLine(sentence), { code, hint });
}

function replied({ status, headers: { location } }: GatewayReply): string {
  if (status < 400 && typeof location === "string")
    return `it leads to "${location.slice(0, mostLocation)}", and no redirect is followed`;
  return `it replied ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd();
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
