import { firstLine, startBackground, type Background } from "../background.ts";
import { compiledModules } from "./bench-process.ts";
import type { BrokerUser } from "./bench-broker.ts";

const common = [
  "@nats-io/jetstream",
  "@nats-io/kv",
  "@nats-io/transport-node",
  "commander",
  "ipaddr.js",
  "pino",
  "prom-client",
  "typebox",
  "undici",
  "yaml",
];
/** The packages that the process's main file imports, directly or indirectly. */
const packages: Readonly<Record<BrokerUser, readonly string[]>> = {
  gateway: [...common, "fastify"],
  "queue-worker": common,
  autoscaler: common,
};

/** Milliseconds from the start of a bare Node until it has imported the process's packages, without Weir's modules. */
export async function importAlone(name: BrokerUser): Promise<number> {
  const imports = packages[name].map((each) => `import ${JSON.stringify(import.meta.resolve(each))};`).join(" ");
  const began = performance.now();
  const node = startBare(`${imports} process.stdout.write("there\\n"); process.on("SIGTERM", () => process.exit(0));`);
  try {
    await firstLine(node);
    return performance.now() - began;
  } finally {
    await node.stop();
  }
}

/** A bare Node that idles until it is stopped. */
export async function idleNode(): Promise<Background> {
  const node = startBare('process.stdout.write("there\\n"); setInterval(() => {}, 1e6);');
  await firstLine(node);
  return node;
}

function startBare(program: string): Background {
  return startBackground([process.execPath, "--input-type=module", "--eval", program], compiledModules);
}
