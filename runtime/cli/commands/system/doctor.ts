import type { DoctorReport, Finding } from "../../../api/schemas/doctor-report.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import type { CommandContext } from "../../command-context.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { examineBuilder } from "../../doctor/examine-builder.ts";
import { examineGateway } from "../../doctor/examine-gateway.ts";
import { examineReach } from "../../doctor/examine-reach.ts";
import { findingText } from "../../doctor/finding-text.ts";
import { judgeFiles } from "../../doctor/judge-client.ts";
import { proxyFor } from "../../doctor/proxy-for.ts";
import { secretFiles } from "../../doctor/secret-files.ts";
import { exitCode } from "../../exit-code.ts";
import type { ChosenGateway } from "../../gateways/choose-gateway.ts";
import { isLoopbackAddress } from "../../gateways/gateway-address.ts";
import { flaggedTls } from "../../open-context.ts";
import { counted } from "../../output/counted.ts";
import type { SharedFlags } from "../../shared-options.ts";

/** Milliseconds for each step on the way to the gateway. */
const stepTimeout = 5_000;

/** `weir doctor`. */
export const examinePlatform: CommandSpec<SharedFlags> = {
  about:
    "Checks the way to the gateway, the files and programs of this machine, and what the gateway finds wrong with its platform. It ends with 1 if there is any problem; warnings do not count.",
  groups: ["gateway", "output"],
  examples: [
    { line: "weir doctor", about: "A line for each check, with what to do about it" },
    { line: "weir doctor -o json", about: "The same for a program" },
  ],
  run: async (context, flags) => {
    const report = await examine(context, flags);
    const { output } = context;
    const problems = report.findings.filter(({ level }) => level === "problem").length;
    const warnings = report.findings.filter(({ level }) => level === "warning").length;
    const worst = problems > 0 ? "problem" : warnings > 0 ? "warning" : "ok";
    await output.value(report, {
      text: () => findingText(report.findings, (level) => output.state(level)),
      name: worst,
    });
    if (problems > 0) throw new CliError(exitCode.failed, `Found ${counted(problems, "problem")}`);
  },
};

/** The gateway's report with the findings of this machine before its own. */
async function examine(context: CommandContext, flags: SharedFlags): Promise<DoctorReport> {
  const { terminal } = context;
  const gateway = await context.chosenGateway();
  const tls = { ...gateway.context, ...flaggedTls(flags, terminal.directory) };
  const files = judgeFiles(await secretFiles({ terminal, gateway }, flags, tls));
  const { client, findings } = await clientOf(context, gateway);
  const bounds = { timeout: context.timeout(stepTimeout), signal: terminal.signal };
  const proxy = proxyFor(gateway.address, terminal.environment);
  const reach = await examineReach({ address: gateway.address, proxy, tls, bounds, client });
  // Without credentials it says no more.
  const mayAsk = findings.length === 0 || client.hasCredentials;
  const side = reach.isReached && mayAsk ? await examineGateway(client) : undefined;
  const builder = await examineBuilder(terminal, side?.orchestration);
  return {
    checkedAt: side?.report?.checkedAt ?? new Date().toISOString(),
    parts: side?.report?.parts ?? [],
    findings: [
      ...reach.findings,
      ...(side?.findings ?? []),
      ...findings,
      ...files,
      builder,
      ...(side?.report?.findings ?? []),
    ],
  };
}

/** A client with credentials, else one without and why it has none. */
async function clientOf(
  context: CommandContext,
  gateway: ChosenGateway,
): Promise<{ readonly client: GatewayClient; readonly findings: readonly Finding[] }> {
  const finding = { id: "credentials", level: "problem", subject: "credentials" } as const;
  const { address } = gateway;
  try {
    const client = await context.gateway();
    if (!client.hasCredentials || address.startsWith("https:") || isLoopbackAddress(address))
      return { client, findings: [] };
    const sentence = `They are sent to ${address} without TLS: anybody on the way can read them`;
    return { client, findings: [{ ...finding, sentence, advice: "use https" }] };
  } catch (err) {
    if (context.terminal.signal.aborted || !(err instanceof CliError)) throw err;
    const { message: sentence, hint } = err;
    const client = await context.connect(gateway, undefined);
    return { client, findings: [{ ...finding, sentence, ...(hint === undefined ? {} : { advice: hint }) }] };
  }
}
