import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import type { LogRecord } from "../../../api/schemas/log-record.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { readLimited } from "../../client/read-limited.ts";
import { exitCode } from "../../exit-code.ts";
import { escapeLine } from "../../output/escape-text.ts";

const most = { lines: 10, characters: 400, bytes: 8 * 1024 * 1024 } as const;

/**
 * The last 10 lines that a function wrote since `since`, safe to be shown; none if the gateway has no logs of it.
 * @throws CliError at Ctrl-C
 */
export async function recentLines(
  gateway: GatewayClient,
  { service, namespace }: Pick<FunctionDeployment, "service" | "namespace">,
  since: string | undefined,
): Promise<readonly string[]> {
  const query = { name: service, namespace, tail: most.lines, follow: false, since };
  try {
    const { body } = await gateway.accepted("GET", "/system/logs", { query });
    return recentLinesIn(await readLimited(body, most.bytes));
  } catch (err) {
    if (!(err instanceof CliError) || err.exit === exitCode.interrupted) throw err;
    return [];
  }
}

/** See above; `ndjson` has a LogRecord on each line, of several replicas one after the other. */
export function recentLinesIn(ndjson: string): readonly string[] {
  return ndjson
    .split("\n")
    .flatMap((line) => recordIn(line) ?? [])
    .toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0))
    .slice(-most.lines)
    .map(({ text }) => escapeLine(text.trimEnd().slice(0, most.characters)));
}

function recordIn(line: string): LogRecord | undefined {
  try {
    const record = JSON.parse(line) as Partial<LogRecord> | null;
    return typeof record?.text === "string" && typeof record.timestamp === "string" ? (record as LogRecord) : undefined;
  } catch {
    return undefined;
  }
}
