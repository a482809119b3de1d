import { fileURLToPath } from "node:url";

import { Command } from "commander";

import { engineAddress } from "../../runtime/adapters/machine/docker/engine/docker-socket.ts";
import { environment } from "../../runtime/process/settings.ts";
import { exampleNames, readExample } from "./example.ts";
import { findGateway, usualGateway } from "./find-gateway.ts";
import { runExample } from "./run-example.ts";
import { WeirClient } from "./weir-client.ts";

interface Options {
  readonly gateway?: string;
  readonly data: string;
  readonly dockerSocket?: string;
}

const root = fileURLToPath(new URL("../../examples", import.meta.url));
const packages = fileURLToPath(new URL("../../node_modules", import.meta.url));
const show = (text: string): void => void process.stdout.write(text);

async function listExamples(): Promise<void> {
  show("Examples, each run with npm run example -- <name>:\n\n");
  for (const name of await exampleNames(root)) show(`  ${name.padEnd(20)}${(await readExample(root, name)).about}\n`);
}

const command = new Command("npm run example --")
  .description("Deploys one of the examples to a running Weir, and shows the requests it sends and the responses.")
  .argument("[name]", "which one; without it they are listed")
  .option(
    "--gateway <url>",
    `address of the gateway (default: that of the Weir that runs with this data directory, else "${usualGateway}")`,
  )
  .option("--data <directory>", "the data directory of that Weir, for its address and credentials", ".weir")
  .option(
    "--docker-socket <address>",
    "the container engine of that Weir, if it has one",
    environment()["docker_socket"],
  )
  .helpOption("--help", "show this")
  .action(async (name: string | undefined, options: Options) => {
    if (name === undefined) return listExamples();
    const gateway = (options.gateway ?? (await findGateway(options.data))).replace(/\/+$/, "");
    const client = new WeirClient(gateway, options.data, show);
    return runExample(name, {
      root,
      packages,
      gateway,
      dockerSocket: engineAddress(options.dockerSocket, environment()["DOCKER_HOST"]),
      client,
      show,
    });
  });

try {
  await command.parseAsync();
} catch (err) {
  process.stderr.write(`${err instanceof Error ? err.message : String(err)}\n`);
  process.exitCode = 1;
}
