import { Command, Option } from "commander";

import { checkConfig, configNamespace } from "../../infra/check-config.ts";
import { platformManifests } from "../../infra/manifests/platform-manifests.ts";
import { neededSecretNames } from "../../infra/manifests/secrets.ts";
import { readConfigFile } from "../../runtime/process/settings.ts";
import { readSettingsFile } from "../../runtime/settings/settings-file.ts";
import { committedDefinitions } from "../render/committed-definitions.ts";
import { checkStackFile, readStackFile } from "../../infra/stack-file.ts";
import { checkCapacity } from "./check-capacity.ts";
import { checkImages } from "./check-images.ts";
import { checkIngress } from "./check-ingress.ts";
import { checkNodes, nodesOf, type Node } from "./check-nodes.ts";
import { checkQuota } from "./check-quota.ts";
import { checkRights } from "./check-rights.ts";
import { checkStorage } from "./check-storage.ts";
import { checkSurroundings } from "./check-surroundings.ts";
import { checkVersion } from "./check-version.ts";
import { kubectlCluster, type Access } from "./cluster.ts";
import { lineOf, note, ok, problem, type Finding } from "./finding.ts";
import { mayRun } from "./node-room.ts";
import { platformRequests } from "./platform-requests.ts";
import { lookInRegistry } from "./registry-look.ts";

interface Typed extends Access {
  readonly stack?: string;
  readonly settings?: string;
}

const command = new Command("npm run --silent preflight --")
  .description(
    "Checks whether a cluster has what the platform of a stack needs, without changing anything: prints a line for each check, with what to do. Exits with 1 when there is a problem.",
  )
  .addOption(
    new Option("--stack <file>", "e.g. Pulumi.pro.yaml; when absent, a platform with all defaults").conflicts(
      "settings",
    ),
  )
  .option("--settings <file>", "of npm run render: YAML with options of the platform, in camelCase")
  .option("--kubeconfig <file>", "instead of that of kubectl")
  .option("--context <name>", "instead of that of the stack, or the current one")
  .helpOption("--help", "show this")
  .action(async (typed: Typed) => {
    let problems = 0;
    const say = (findings: readonly Finding[]): void => {
      for (const finding of findings) {
        problems += finding.level === "problem" ? 1 : 0;
        console.log(lineOf(finding));
      }
    };
    await preflight(typed, say);
    if (problems > 0) process.exitCode = 1;
    console.log(
      problems === 0
        ? "Nothing is in the way."
        : `${problems} ${problems === 1 ? "thing is" : "things are"} in the way.`,
    );
  });

/** What people render is checked as a stack is: it has the same keys. */
function settingsIn({ settings }: Typed): Readonly<Record<string, unknown>> {
  return settings === undefined ? {} : readSettingsFile(settings, readConfigFile);
}

async function preflight(typed: Typed, say: (findings: readonly Finding[]) => void): Promise<void> {
  const file = typed.stack === undefined ? { values: settingsIn(typed), encrypted: [] } : readStackFile(typed.stack);
  // What is rendered may hold a password in its file; a stack may not.
  const { config, problems } = typed.settings === undefined ? checkStackFile(file) : checkConfig(file.values);
  const [source, prefix] = typed.settings === undefined ? ["stack", `${configNamespace}:`] : ["settings", ""];
  say(problems.map((each) => problem(`${prefix}${each}`, `change the ${source}`)));
  if (config === undefined) return;
  const { platform } = config;
  say([
    ok(
      `the ${source}: edition ${platform.edition}, namespaces ${platform.platformNamespace} and ${platform.functionNamespace}`,
    ),
  ]);
  if (typed.kubeconfig === undefined && file.encrypted.includes("kubeconfig")) {
    const says = `${configNamespace}:kubeconfig is encrypted, so the cluster of the stack is not known`;
    return say([problem(says, "say it with --kubeconfig FILE")]);
  }
  const encrypted = file.encrypted.map((path) => `${configNamespace}:${path}`);
  if (encrypted.length > 0) say([note(`encrypted in the stack and not looked at: ${encrypted.join(", ")}`)]);

  const kubeconfig = typed.kubeconfig ?? (config.kubeconfig?.includes("\n") === true ? undefined : config.kubeconfig);
  const cluster = kubectlCluster({ kubeconfig, context: typed.context ?? config.context });
  try {
    say(await checkVersion(cluster));
  } catch (err) {
    const because = err instanceof Error ? err.message : String(err);
    return say([problem(`the API server cannot be asked: ${because}`, "is kubectl there, and its context right?")]);
  }
  const definitions = config.installCrds ? await committedDefinitions() : [];
  const secrets = neededSecretNames(platform).map((name) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: platform.platformNamespace },
  }));
  const objects = platformManifests(platform, { definitions, secrets }).flatMap((part) => part.objects);
  const { pods } = platformRequests(objects);
  const usable = (all: readonly Node[]) => all.filter((node) => pods.some(({ spec }) => mayRun(spec, node)));
  const nodes = nodesOf(cluster);
  // Each check that needs them reports the failure itself.
  nodes.catch(() => {});
  const checks: readonly (readonly [string, () => Promise<Finding[]>])[] = [
    ["rights", () => checkRights(cluster, objects, platform.apiServer)],
    ["nodes", async () => checkNodes(cluster, await nodes, platform)],
    ["capacity", async () => checkCapacity(cluster, await nodes, platform, objects)],
    ["quotas", () => checkQuota(cluster, platform, objects)],
    ["storage", () => checkStorage(cluster, platform)],
    ["the Ingress", () => checkIngress(cluster, platform)],
    ["images", async () => checkImages(usable(await nodes.catch(() => [])), platform, lookInRegistry)],
    ["surroundings", () => checkSurroundings(cluster, platform, definitions)],
  ];
  for (const [what, check] of checks) {
    say(
      await check().catch((err: unknown) => [
        note(`${what} cannot be looked at`, err instanceof Error ? err.message : String(err)),
      ]),
    );
  }
}

try {
  await command.parseAsync();
} catch (err) {
  console.error(err instanceof Error ? err.message : String(err));
  process.exitCode = 1;
}
