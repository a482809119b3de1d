import { mkdir, readFile } from "node:fs/promises";
import { join, dirname } from "node:path";

import { runChild } from "../../build/run-child.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import type { CommandContext } from "../../command-context.ts";
import { exitCode } from "../../exit-code.ts";
import { namedGateway } from "../../gateways/choose-gateway.ts";
import { isLoopbackAddress } from "../../gateways/gateway-address.ts";
import { localCredentials } from "../../gateways/local-weir.ts";
import { functionSource } from "../../deploy/plan/function-source.ts";
import type { Project } from "../../project/project.ts";
import { decideGateway, type GatewayDecision } from "./decide-gateway.ts";
import { findPlatform, findPlatformFile, platformFile, platformPrefix, type PlatformProgram } from "./find-platform.ts";
import { isListening } from "./is-listening.ts";
import { startOwnWeir, type LoggedCall, type OwnWeir } from "./own-weir.ts";
import { platformCommand } from "./platform-command.ts";

/** The gateway that is developed on. */
export interface DevGateway {
  readonly client: GatewayClient;
  /** The Weir behind it, if it was started for this. */
  readonly own: OwnWeir | undefined;
}

const usualPort = 8080;

/**
 * The gateway that is named, if it answers; else a Weir is started for the project, which ends with the command.
 * @param say gets what happens meanwhile, a line each
 * @throws CliError when no gateway can be used, and none be started
 */
export async function openDevGateway(
  context: CommandContext,
  project: Project,
  byContextFlag: boolean,
  say: (line: string, name?: string) => void,
): Promise<DevGateway> {
  const gateway = await context.chosenGateway();
  const isHere = isLoopbackAddress(gateway.address);
  const listens = isHere && (await isListening(gateway.address));
  const client = listens || (!isHere && byContextFlag) ? await context.gateway() : undefined;
  const refusal = listens ? await refusalOf(client) : undefined;
  const decision = decideGateway({ gateway, byContextFlag, listens, refusal });
  if (decision.kind === "use") return { client: client ?? (await context.gateway()), own: undefined };
  const own = await startFor(context, project, decision, say);
  const data = dataOf(project);
  say(`started a Weir at ${own.address}; its data is in "${data}"`);
  const { uid } = context.terminal;
  const credentials = await localCredentials({ directory: data, address: own.address }, uid);
  return { client: await context.connect(namedGateway(own.address, "its start"), credentials), own };
}

async function refusalOf(client: GatewayClient | undefined): Promise<CliError | undefined> {
  try {
    await client?.json("GET", "/system/info");
    return undefined;
  } catch (err) {
    if (err instanceof CliError && err.exit !== exitCode.interrupted) return err;
    throw err;
  }
}

async function startFor(
  context: CommandContext,
  project: Project,
  { host, port }: Extract<GatewayDecision, { kind: "start" }>,
  say: (line: string, name?: string) => void,
): Promise<OwnWeir> {
  const { terminal } = context;
  const program = (await platformOf(context, project)) ?? (await installPlatform(context, project, say));
  const usual = (await isListening(`http://127.0.0.1:${usualPort}`)) ? 0 : usualPort;
  const data = dataOf(project);
  const isKnown = (await readFile(join(data, "provider"), "utf8").catch(() => "")) !== "";
  const provider = !isKnown && runsFolders(project) ? "local" : undefined;
  const settings = { data, host, port: port ?? usual, provider } as const;
  const { environment, signal } = terminal;
  const command = platformCommand(program, settings, { environment, node: await nodeProgram() });
  return startOwnWeir({
    ...command,
    signal,
    progress: say,
    onConsole: (address) => say(`console at ${address}`),
    onCall: (call) => say(callText(call), call.functionName),
    onClose: (close) => context.onClose(close),
  });
}

function callText({ callId, duration, method, status }: LoggedCall): string {
  return `${method} ${status} in ${Math.ceil(Number(duration))} ms, call ${callId}`;
}

function dataOf({ directory }: Project): string {
  return join(directory, ".weir");
}

function platformOf(
  { terminal: { uid } }: CommandContext,
  { directory }: Project,
): Promise<PlatformProgram | undefined> {
  // Modules of an executable file have no directory: what counts is where the file lies.
  const own = (import.meta.dirname as string | undefined) ?? dirname(process.execPath);
  return findPlatform([directory, own], uid);
}

/** Whether the local provider can run all functions without an image. */
function runsFolders({ content: { functions } }: Project): boolean {
  return Object.entries(functions).every(([name, definition]) => {
    try {
      return functionSource(name, definition, "folders").kind === "folder";
    } catch {
      return false;
    }
  });
}

/** Installs a Weir for this project alone, where it is neither deployed nor watched. */
async function installPlatform(
  context: CommandContext,
  project: Project,
  say: (line: string) => void,
): Promise<PlatformProgram> {
  const { mayAsk, terminal } = context;
  const prefix = join(project.directory, platformPrefix);
  const file = await findPlatformFile([project.directory], terminal.uid);
  if (file === undefined || !mayAsk)
    throw new CliError(
      exitCode.unavailable,
      `Cannot start Weir: none answers on this machine, and none is installed here or above; ${platformFile} is a file of the release`,
      { hint: `npm install ${file ?? `./${platformFile}`}` },
    );
  const { askToConfirm } = await import("../../output/ask.ts");
  await askToConfirm(`No Weir is installed here. Install "${file}" into "${prefix}"?`, terminal.signal);
  const command = "npm";
  const args = ["install", "--prefix", prefix, "--no-audit", "--no-fund", file];
  await mkdir(join(project.directory, ".weir"), { mode: 0o700, recursive: true });
  const { environment, signal } = terminal;
  const end = await runChild({ command, args, environment, signal, onLine: say });
  const found = await platformOf(context, project);
  if (found !== undefined) return found;
  const how = end.kind === "ended" ? `npm ended with ${end.code}` : `npm: ${end.reason}`;
  throw new CliError(exitCode.unavailable, `Cannot install "${file}": ${how}`);
}

/** This program is one file without Node.js beside it, or it runs on the Node.js that it names. */
async function nodeProgram(): Promise<string> {
  const { isSea } = await import("node:sea");
  return isSea() ? "node" : process.execPath;
}
