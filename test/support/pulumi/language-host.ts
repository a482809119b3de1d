import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";

import { status, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import { LanguageRuntimeService } from "@pulumi/pulumi/proto/language_grpc_pb.js";
import language from "@pulumi/pulumi/proto/language_pb.js";
import type { RunRequest, RunResponse } from "@pulumi/pulumi/proto/language_pb.js";
import plugin from "@pulumi/pulumi/proto/plugin_pb.js";

import { environment } from "../../../runtime/process/settings.ts";
import { servePlugin } from "./serve-plugin.ts";

/** Exit code of a program that has already reported why it failed. */
const reportedFailure = 32;

let engineAddress = process.argv.findLast((argument) => /^[\w.]+:\d+$/.test(argument)) ?? "";

servePlugin(LanguageRuntimeService, {
  handshake: (call: ServerUnaryCall<{ getEngineAddress(): string }, unknown>, respond: sendUnaryData<unknown>) => {
    engineAddress = call.request.getEngineAddress();
    respond(null, new language.LanguageHandshakeResponse());
  },
  getPluginInfo: (_: unknown, respond: sendUnaryData<unknown>) => {
    const info = new plugin.PluginInfo();
    info.setVersion("3.270.0");
    respond(null, info);
  },
  getRequiredPackages: (_: unknown, respond: sendUnaryData<unknown>) =>
    respond(null, new language.GetRequiredPackagesResponse()),
  run: ({ request }: ServerUnaryCall<RunRequest, RunResponse>, respond: sendUnaryData<RunResponse>) => {
    run(request).then(
      (response) => respond(null, response),
      (err: unknown) => respond({ code: status.UNKNOWN, message: String(err) }),
    );
  },
  cancel: (_: unknown, respond: sendUnaryData<unknown>) => respond(null, new language.RunResponse()),
});

async function run(request: RunRequest): Promise<RunResponse> {
  const info = request.getInfo();
  const directory = info?.getProgramDirectory() || request.getPwd();
  const entry = info?.getEntryPoint() || request.getProgram() || ".";
  const options = info?.getOptions()?.toJavaScript() ?? {};
  // The program is run by the SDK that it resolves itself.
  const sdk = createRequire(join(directory, "index.js")).resolve("@pulumi/pulumi/cmd/run/index.js");
  const child = spawn(
    process.execPath,
    [
      // The SDK notes where each promise was made, and maps every frame to sources: a third of a program's time.
      "--stack-trace-limit=2",
      sdk,
      `--monitor=${request.getMonitorAddress()}`,
      `--engine=${engineAddress}`,
      `--project=${request.getProject()}`,
      `--root-directory=${info?.getRootDirectory() ?? directory}`,
      `--stack=${request.getStack()}`,
      `--organization=${request.getOrganization()}`,
      `--parallel=${request.getParallel()}`,
      ...(request.getDryrun() ? ["--dry-run=true"] : []),
      "--query-mode=false",
      `--pwd=${directory}`,
      entry,
      ...request.getArgsList(),
    ],
    {
      cwd: directory,
      stdio: ["ignore", "inherit", "inherit"],
      env: {
        ...environment(),
        PULUMI_CONFIG: JSON.stringify(Object.fromEntries(request.getConfigMap().toArray())),
        PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
        // On unless the project turns it off; the program must be told explicitly.
        PULUMI_NODEJS_TYPESCRIPT: String(options["typescript"] !== false),
      },
    },
  );
  const [code] = (await once(child, "exit")) as [number | null];
  const response = new language.RunResponse();
  if (code === reportedFailure) response.setBail(true);
  else if (code !== 0) response.setError(`Program exited with code ${code ?? "none: it was killed"}`);
  return response;
}
