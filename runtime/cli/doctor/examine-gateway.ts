import { header } from "../../api/names.ts";
import type { DoctorReport, Finding } from "../../api/schemas/doctor-report.ts";
import type { SystemInfo } from "../../api/schemas/system-info.ts";
import { CliError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import { readStartOf } from "../client/read-limited.ts";
import { exitCode } from "../exit-code.ts";
import { judgeVersion } from "./judge-client.ts";

/** Most bytes of `/system/info`. */
const mostInfo = 65_536;
/** Milliseconds without a byte of it. */
const idleTimeout = 10_000;

type ReportClient = Pick<GatewayClient, "address" | "send" | "json">;

/** What the gateway says of itself, and findings about how it was asked. */
export interface GatewaySide {
  readonly findings: readonly Finding[];
  /** Undefined when the gateway did not give one. */
  readonly report: DoctorReport | undefined;
  /** How functions run; undefined when it is not known. */
  readonly orchestration: string | undefined;
}

/** Asks the gateway for its version and its own report. */
export async function examineGateway(client: ReportClient): Promise<GatewaySide> {
  try {
    const reply = await client.send("GET", "/system/info", { idleTimeout });
    const version = reply.headers[header.apiVersion.toLowerCase()];
    const orchestration = orchestrationIn(await readStartOf(reply.body, mostInfo));
    reply.body.destroy();
    const versions = judgeVersion(Array.isArray(version) ? version[0] : version);
    const { report, findings } = await reportOf(client);
    return { findings: [versions, ...findings], report, orchestration };
  } catch (err) {
    return { findings: [refusedFinding(err)], report: undefined, orchestration: undefined };
  }
}

async function reportOf(
  client: ReportClient,
): Promise<{ readonly report: DoctorReport | undefined; readonly findings: readonly Finding[] }> {
  try {
    const report = reportIn(await client.json<unknown>("GET", "/system/doctor"));
    if (report !== undefined) return { report, findings: [] };
    throw new CliError(exitCode.failed, `Cannot read the report of ${client.address}: it has no findings`);
  } catch (err) {
    return { report: undefined, findings: [refusedFinding(err)] };
  }
}

/** Why the gateway gave no report. */
function refusedFinding(err: unknown): Finding {
  if (!(err instanceof CliError) || err.exit === exitCode.interrupted) throw err;
  if (err.code === "route_not_found")
    return {
      id: "doctor",
      level: "warning",
      subject: "gateway",
      sentence: "It is older than this command, and does not check its platform",
      advice: "upgrade it",
    };
  return {
    id: err.exit === exitCode.credentials ? "credentials" : "doctor",
    level: "problem",
    subject: err.exit === exitCode.credentials ? "credentials" : "gateway",
    sentence: err.message,
    ...(err.hint === undefined ? {} : { advice: err.hint }),
  };
}

/** The report in a reply; what does not have the form of one is left out. */
function reportIn(value: unknown): DoctorReport | undefined {
  const { checkedAt, parts, findings } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(findings)) return undefined;
  return {
    checkedAt: String(checkedAt),
    parts: Array.isArray(parts) ? parts : [],
    findings: findings.filter(isFinding),
  };
}

function isFinding(value: unknown): value is Finding {
  const { level, subject, sentence, advice = "" } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return [level, subject, sentence, advice].every((text) => typeof text === "string");
}

function orchestrationIn(text: string): string | undefined {
  try {
    const info = JSON.parse(text) as Partial<SystemInfo> | null;
    const orchestration: unknown = info?.provider?.orchestration;
    return typeof orchestration === "string" ? orchestration : undefined;
  } catch {
    return undefined;
  }
}
