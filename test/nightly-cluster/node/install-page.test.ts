import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeAll, describe, expect, test } from "vitest";

import { natsImageName, weirImageName } from "../../../runtime/api/version.ts";
import { linkProject, pulumiVariables } from "../../support/engine-stack.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { commandBlocks, printsAsShown, type CommandBlock } from "../../support/markdown-blocks.ts";
import { openShell, type ShellAnswer, type ShellSession } from "../../support/shell-session.ts";
import { hasPulumi, longStep, smallCpu, stacksCluster } from "../../support/stacks-cluster.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { answerForIngress } from "../../support/weir-stack.ts";

/** Runs the commands of docs/install.md verbatim for each edition: a stack from its sample, used and removed. */

const root = join(import.meta.dirname, "..", "..", "..");
const page = await readFile(join(root, "docs", "install.md"), "utf8");
const opened = stacksCluster();

/** The blocks between a heading and the next one of the same level or above. */
function blocksOf(heading: string): CommandBlock[] {
  const level = heading.indexOf(" ");
  const begin = page.indexOf(`\n${heading}\n`);
  if (begin < 0) throw new Error(`Cannot find "${heading}" in docs/install.md`);
  const text = page.slice(begin + heading.length + 2);
  const end = text.search(new RegExp(`^#{1,${level}} `, "m"));
  return commandBlocks(end < 0 ? text : text.slice(0, end));
}

const [setUp, preflight, up, pods, ...uses] = blocksOf("### From an empty cluster to a called function");
const [mistakes] = blocksOf("### Configuration");
const [remove] = blocksOf("## Remove");

/** A node tells which images it has some seconds after it got them, and preflight asks it. */
beforeAll(async () => {
  if (!hasPulumi) return;
  const names = ["get", "nodes", "--output=jsonpath={.items[*].status.images[*].names}"];
  const told = async (): Promise<boolean> => {
    const images = await opened().cluster.kubectl(names, { namespace: null });
    return [weirImageName, natsImageName].every((image) => images.includes(`/${image}"`));
  };
  await eventually(told, { within: longStep, what: "the node to tell its images", every: 500 });
}, longStep);

let place: TempDirectory | undefined;
let shell: ShellSession | undefined;
afterEach(async () => {
  // Else the stack of a test that failed in the middle keeps the node's processors from the tests after it.
  await shell?.run("pulumi destroy", longStep).catch(() => undefined);
  await shell?.close();
  await place?.remove();
}, longStep);

/** Opens a shell in a stand-in of the clone, for a cluster called `weir`, as `npm run cluster` names it. */
async function openTerminal(): Promise<ShellSession> {
  place = await tempDirectory("install-page");
  const [clone, home] = [join(place.path, "clone"), join(place.path, "home")];
  for (const each of [clone, home]) await mkdir(each);
  await linkProject(root, clone);
  shell = openShell({ directory: clone });
  const kubeconfig = join(home, "kubeconfig");
  const variables = {
    ...pulumiVariables(home),
    KUBECONFIG: kubeconfig,
    PULUMI_CONFIG_PASSPHRASE: "of the tests",
    PULUMI_SKIP_CONFIRMATIONS: "true",
  };
  const exported = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`);
  await done(shell, exported.join("\n"));
  await done(shell, `cp '${opened().cluster.kubeconfig}' '${kubeconfig}' && chmod 600 '${kubeconfig}'`);
  return shell;
}

/** Runs commands that must succeed; resolves with their standard output. */
async function done(own: ShellSession, commands: string, within = longStep): Promise<string> {
  return (await both(own, commands, within)).stdout;
}

async function both(own: ShellSession, commands: string, within = longStep): Promise<ShellAnswer> {
  const response = await own.run(commands, within).catch((err: unknown) => {
    throw new Error(`In docs/install.md: ${commands}`, { cause: err });
  });
  expect(response.code, `${commands}\n${response.stdout}\n${response.stderr}`).toBe(0);
  return response;
}

/** Replaces by "…" what differs each time: names of pods, ages, durations, dates, optional checks, ports, ids. */
function anyTime(shown: string): string {
  return shown
    .replaceAll(/^(\S+?)-[0-9a-z]{8,10}-[0-9a-z]{5} +/gm, "$1-…")
    .replaceAll(/\b\d+s$/gm, "…")
    .replaceAll("/home/me/", "…/")
    .replaceAll(/\d{4}-\d\d-\d\dT\S+/g, "…")
    .replaceAll(/^ok +no definition of ours is there yet$/gm, "…definition…")
    .replaceAll(/^ok +metrics API$/gm, "…metrics API…")
    .replaceAll(/listens on port \d+/g, "listens on port …")
    .replaceAll(/"[0-9a-f-]{36}"/g, '"…"')
    .replaceAll(/ {2,}/g, " ");
}

const inOneSpace = (text: string): string => text.replaceAll(/ {2,}/g, " ");

describe.skipIf(!hasPulumi)("docs/install.md", () => {
  test.each(["community", "standard", "pro", "enterprise"])(
    "a stack of edition %s starts, is used, and is removed",
    async (edition) => {
      const own = await openTerminal();
      const { cluster } = opened();
      const platform = { kubectl: (...args: readonly string[]) => cluster.kubectl(args, { namespace: "weir" }) };
      const isShown = edition === "community";
      const run = async (block: CommandBlock | undefined, change = (text: string) => text): Promise<string> => {
        if (block === undefined) throw new Error("Cannot find the commands in docs/install.md");
        const { stdout, stderr } = await both(own, change(block.commands.replaceAll("community", edition)));
        // The page shows the output of its edition only.
        if (isShown && block.shows !== undefined) {
          const shows = anyTime(block.shows);
          // A terminal shows both streams; without one, curl prints its progress to standard error.
          const isAsShown = [stdout, stdout + stderr].some((printed) => printsAsShown(inOneSpace(printed), shows));
          expect(isAsShown, `${stdout}${stderr}\nit must be:\n${shows}`).toBe(true);
        }
        return stdout;
      };

      // The test runs with the packages that this would install.
      await run(setUp, (text) => text.replace(/^npm install\n/, ""));
      // As the page advises for small nodes: this one has two processors.
      const cpus = edition === "pro" || edition === "enterprise" ? Object.entries(smallCpu) : [];
      for (const [part, cpu] of cpus) await done(own, `pulumi config set --path weir:cpu.${part} ${cpu}`);
      if (edition === "standard") await prepareForStandard(own);
      expect(await run(preflight)).toContain("Nothing is in the way.");
      const ingress = edition === "standard" ? answerForIngress(platform, longStep) : undefined;
      await run(up);
      await ingress;
      const running = (await run(pods)).trim().split("\n").slice(1);
      expect(running.filter((line) => !/ (\d)\/\1 +Running /.test(line))).toEqual([]);

      const port = await freePort();
      const forward = (await done(own, "pulumi stack output portForward")).trim().replace(/ 8080:/, ` ${port}:`);
      await done(own, `${forward} >/dev/null 2>&1 &`);
      const here = (text: string): string => text.replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`);
      await eventually(async () => (await own.run(`curl -fs http://127.0.0.1:${port}/healthz`)).code === 0, {
        what: "the forwarded port to answer",
        every: 200,
      });
      for (const block of uses) await run(block, here);

      if (isShown) await makeMistakes(own);
      await run(remove);
      const left = await done(own, "kubectl get namespaces --output=name");
      expect(left.split("\n").filter((name) => /\/(?:weir|functions)$/.test(name))).toEqual([]);
    },
    2 * longStep,
  );
});

/** Runs the mistakes of the page, and reverts them. */
async function makeMistakes(own: ShellSession): Promise<void> {
  const before = await done(own, "cat Pulumi.community.yaml");
  const { stdout, stderr, code } = await own.run(mistakes?.commands ?? "", longStep);
  expect(code).not.toBe(0);
  for (const line of mistakes?.shows?.split("\n") ?? []) expect(`${stdout}${stderr}`).toContain(line.trim());
  await done(own, `cat > Pulumi.community.yaml <<'Y'\n${before}\nY`);
}

/** Creates an IngressClass, and uses Secrets instead of an issuer of cert-manager, as preflight advises. */
async function prepareForStandard(own: ShellSession): Promise<void> {
  const refused = await own.run("npm run --silent preflight -- --stack Pulumi.standard.yaml", longStep);
  expect(refused.stdout.match(/^PROBLEM .*/gm)).toMatchObject([
    expect.stringContaining('there is no ingress class "nginx"'),
    ...["ingress", "console"].map((part) =>
      expect.stringMatching(`there is no ClusterIssuer "letsencrypt": .* set weir:${part}.tlsSecret$`),
    ),
  ]);
  expect(refused.code).toBe(1);
  await opened().cluster.apply({
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "nginx" },
    spec: { controller: "example.com/none" },
  });
  for (const part of ["ingress", "console"]) {
    await done(own, `pulumi config rm --path weir:${part}.clusterIssuer`);
    // Pulumi may take any name for a secret value, by how random it looks.
    await done(own, `pulumi config set --plaintext --path weir:${part}.tlsSecret ${part}-tls`);
  }
}
