import { Command, Option } from "commander";

import { clusterLevels, defaultClusterDirectory } from "./places.ts";
import { runClusterScript, type ClusterScript } from "./run-script.ts";

interface Options {
  readonly level?: string;
  readonly dir?: string;
  readonly metrics?: boolean;
  readonly pulumi?: boolean;
}

const level = () =>
  new Option("--level <level>", "api: API server; kwok: controllers, pods only simulated; node: all of it")
    .choices(clusterLevels)
    .default("node");
const dir = () => new Option("--dir <path>", "where the cluster lives").default(defaultClusterDirectory());
const metrics = () => new Option("--metrics", "also metrics-server (level node)");

const command = new Command("npm run cluster --")
  .description(
    "A real Kubernetes of one node on this machine, built from Go modules: for tests, and to try Weir on it.",
  )
  .helpOption("--help", "show this")
  .helpCommand(false);

command
  .command("build")
  .description("builds what is not built yet; about 25 min the first time for level node, 8 min for level api")
  .addOption(level())
  .addOption(metrics())
  .option("--pulumi", "also the command of Pulumi")
  .action(run("build"));
command
  .command("up")
  .description("starts a cluster and prints the path of its kubeconfig")
  .addOption(level())
  .addOption(dir())
  .addOption(metrics())
  .action(run("up"));
command
  .command("load")
  .description("loads an image into the cluster: a tar of docker save, or of OCI; - reads the standard input")
  .argument("<image.tar>")
  .addOption(dir())
  .action((file: string, options: Options) => end("load", [...argumentsOf(options), file]));
command
  .command("status")
  .description("shows which parts run; exits with 1 unless all do")
  .addOption(dir())
  .action(run("status"));
command
  .command("down")
  .description("stops a cluster and removes everything it left on this machine")
  .addOption(dir())
  .action(run("down"));

for (const each of command.commands) each.helpOption("--help", "show this");

if (process.platform !== "linux") {
  console.error(
    "Cannot run a cluster here: it needs Linux; kind and k3d make one with Docker (docs/contributing/tests.md)",
  );
  process.exitCode = 2;
} else await command.parseAsync();

function run(script: ClusterScript) {
  return (options: Options): Promise<void> => end(script, argumentsOf(options));
}

function argumentsOf(options: Options): string[] {
  return [
    ...(options.level === undefined ? [] : ["--level", options.level]),
    ...(options.dir === undefined ? [] : ["--dir", options.dir]),
    ...(options.metrics === true ? ["--metrics"] : []),
    ...(options.pulumi === true ? ["--pulumi"] : []),
  ];
}

async function end(script: ClusterScript, args: readonly string[]): Promise<void> {
  // The program handles Ctrl-C itself.
  process.on("SIGINT", () => undefined);
  process.exitCode = await runClusterScript(script, args);
}
