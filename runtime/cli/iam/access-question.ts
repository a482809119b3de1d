import { resolve } from "node:path";

import { Check } from "typebox/value";

import { nearestName } from "../../api/closest-name.ts";
import { SimulateRequest, type SimulateReply } from "../../api/schemas/iam/access.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import { decisionReply } from "../client/reply-kinds.ts";
import { readOne } from "../client/read-reply.ts";
import type { OptionSpec } from "../command-spec.ts";
import { exitCode } from "../exit-code.ts";
import { readTextFile } from "../project/read-text-file.ts";
import type { Terminal } from "../terminal.ts";
import { noIam } from "./no-iam.ts";

/** Flags that say who would act; without either it is whoever signs in. */
export interface ActorFlags {
  readonly as?: string;
  readonly asToken?: string;
}

/** Who would act, as the request says it. */
export type Actor = Pick<SimulateRequest, "claims" | "token">;

/** Longest file of claims or a token, bytes. */
const mostBytes = 65_536;

export const actorOptions: readonly OptionSpec[] = [
  { flags: "--as <file>", about: "JSON file with the claims of somebody else, as their issuer writes them" },
  { flags: "--as-token <file>", about: "file with a token of this platform" },
];

/** Every single action. */
export const singleActions: readonly string[] = SimulateRequest.properties.action.enum;

/**
 * Who would act.
 * @throws CliError when a file cannot be used
 */
export async function actorOf({ as, asToken }: ActorFlags, { directory }: Terminal): Promise<Actor> {
  if (as !== undefined && asToken !== undefined)
    throw usageError("Cannot choose who would act: give one of --as and --as-token");
  if (asToken !== undefined) return { token: (await textOf(asToken, directory)).trim() };
  if (as === undefined) return {};
  let claims: unknown;
  try {
    claims = JSON.parse(await textOf(as, directory));
  } catch (err) {
    throw err instanceof CliError ? err : usageError(`Cannot read "${as}": it is not JSON`);
  }
  if (typeof claims !== "object" || claims === null || Array.isArray(claims))
    throw usageError(`Cannot use "${as}": it is no JSON object of claims`);
  return { claims: claims as Record<string, unknown> };
}

/** @throws CliError when there is no such action */
export function checkAction(action: string): void {
  if (singleActions.includes(action)) return;
  const near = nearestName(action, singleActions);
  const hint = near === undefined ? 'as in "Function:Delete"' : `did you mean ${near}?`;
  throw usageError(`Cannot ask for action "${action}": there is none; ${hint}`);
}

/** @throws CliError when it cannot be a resource */
export function checkResource(resource: string): void {
  const fits: boolean = Check(SimulateRequest.properties.resource, resource);
  if (fits) return;
  throw usageError(`Cannot ask for resource "${resource}": it must be "namespace:function", "namespace:*" or "*"`);
}

/**
 * The gateway's decision.
 * @throws CliError never with exit code 1, which says no
 */
export async function askGateway(gateway: GatewayClient, question: SimulateRequest): Promise<SimulateReply> {
  try {
    return await readOne(gateway, "/system/iam/simulate", decisionReply, { method: "POST", json: question });
  } catch (err) {
    if (!(err instanceof CliError)) throw err;
    if (err.exit === exitCode.notFound) throw noIam("Cannot ask who may do what");
    if (err.exit !== exitCode.failed) throw err;
    const exit = err.code === "validation_failed" ? exitCode.usage : exitCode.unavailable;
    throw new CliError(exit, err.message, { hint: err.hint, code: err.code, cause: err });
  }
}

async function textOf(file: string, directory: string): Promise<string> {
  const read = await readTextFile(resolve(directory, file), mostBytes);
  if (read.kind === "refused") throw usageError(`Cannot read "${file}": ${read.state}`);
  return read.text;
}
