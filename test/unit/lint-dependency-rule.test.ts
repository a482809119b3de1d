import { execFile } from "node:child_process";
import { copyFile, glob, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const oxlint = join(root, "node_modules", ".bin", "oxlint");

/** Importing file, what it imports. */
type Import = readonly [file: string, imported: string];

const refused: readonly Import[] = [
  ["runtime/api/a.ts", "../core/b.ts"],
  ["runtime/api/a.ts", "../process/b.ts"],
  ["runtime/api/a.ts", "../settings/b.ts"],
  ["runtime/api/schemas/a.ts", "../../settings/b.ts"],
  ["runtime/settings/a.ts", "../core/b.ts"],
  ["runtime/settings/a.ts", "../process/b.ts"],
  ["runtime/settings/a.ts", "../gateway/settings.ts"],
  ["runtime/core/calls/a.ts", "../../settings/b.ts"],
  ["runtime/core/a.ts", "../adapters/nats/b.ts"],
  ["runtime/core/a.ts", "../process/b.ts"],
  ["runtime/core/ports/a.ts", "../../gateway/b.ts"],
  ["runtime/core/queues/a.ts", "../../adapters/nats/b.ts"],
  ["runtime/core/a.ts", "../queue-worker/b.ts"],
  ["runtime/core/a.ts", "../queue-doctor/b.ts"],
  ["runtime/core/a.ts", "../autoscaler/b.ts"],
  ["runtime/core/a.ts", "../operator/b.ts"],
  ["runtime/core/a.ts", "../provider/b.ts"],
  ["runtime/core/a.ts", "../host/b.ts"],
  ["runtime/core/a.ts", "../watchdog/b.ts"],
  ["runtime/core/a.ts", "../http1/b.ts"],
  ["runtime/api/a.ts", "../disk/b.ts"],
  ["runtime/core/a.ts", "../disk/b.ts"],
  ["runtime/disk/a.ts", "../api/b.ts"],
  ["runtime/console/a.ts", "../disk/b.ts"],
  ["runtime/http1/a.ts", "../core/b.ts"],
  ["runtime/http1/a.ts", "../gateway/b.ts"],
  ["runtime/http1/client/a.ts", "../../process/b.ts"],
  ["runtime/http1/client/a.ts", "../../adapters/http/b.ts"],
  ["runtime/http1/client/a.ts", "../../watchdog/b.ts"],
  ["runtime/http1/a.ts", "../adapters/http/b.ts"],
  ["runtime/queue-worker/a.ts", "../http1/b.ts"],
  ["runtime/provider/a.ts", "../http1/b.ts"],
  ["runtime/cli/a.ts", "../http1/b.ts"],
  ["runtime/process/a.ts", "../api/b.ts"],
  ["runtime/process/metrics/a.ts", "../../api/b.ts"],
  ["runtime/process/a.ts", "../core/b.ts"],
  ["runtime/adapters/nats/a.ts", "../../process/b.ts"],
  ["runtime/adapters/nats/server/a.ts", "../../../host/b.ts"],
  ["runtime/adapters/machine/local/a.ts", "../../../watchdog/b.ts"],
  ["runtime/adapters/http/a.ts", "../../gateway/b.ts"],
  ["runtime/adapters/nats/queues/a.ts", "../../../queue-doctor/b.ts"],
  ["runtime/adapters/nats/link/a.ts", "../../../settings/b.ts"],
  ["runtime/gateway/a.ts", "../adapters/nats/b.ts"],
  ["runtime/gateway/a.ts", "../queue-worker/b.ts"],
  ["runtime/gateway/rest/a.ts", "../../provider/b.ts"],
  ["runtime/queue-worker/a.ts", "../adapters/nats/b.ts"],
  ["runtime/queue-worker/a.ts", "../gateway/b.ts"],
  ["runtime/queue-doctor/a.ts", "../adapters/nats/b.ts"],
  ["runtime/queue-doctor/a.ts", "../queue-worker/b.ts"],
  ["runtime/autoscaler/a.ts", "../adapters/nats/b.ts"],
  ["runtime/autoscaler/a.ts", "../gateway/b.ts"],
  ["runtime/operator/a.ts", "../adapters/kubernetes/b.ts"],
  ["runtime/operator/a.ts", "../provider/b.ts"],
  ["runtime/provider/a.ts", "../adapters/machine/b.ts"],
  ["runtime/provider/a.ts", "../watchdog/b.ts"],
  ["runtime/host/a.ts", "../adapters/nats/b.ts"],
  ["runtime/host/a.ts", "../gateway/b.ts"],
  ["runtime/host/settings.ts", "../gateway/build-gateway.ts"],
  ["runtime/host/settings.ts", "../adapters/nats/b.ts"],
  ["runtime/watchdog/a.ts", "../adapters/machine/b.ts"],
  ["runtime/watchdog/a.ts", "../host/b.ts"],
  ["runtime/gateway/main.ts", "../queue-worker/b.ts"],
  ["runtime/queue-doctor/main.ts", "../host/b.ts"],
  ["runtime/host/main.ts", "../cli/b.ts"],
  ["runtime/host/parts/a.ts", "../../cli/b.ts"],
  ["runtime/host/parts/a.ts", "../../../scripts/b.ts"],
  ["runtime/cli/a.ts", "../core/b.ts"],
  ["runtime/cli/a.ts", "../gateway/b.ts"],
  ["runtime/cli/a.ts", "../console/b.ts"],
  ["runtime/cli/a.ts", "../process/b.ts"],
  ["runtime/console/a.ts", "../adapters/http/b.ts"],
  ["runtime/console/a.tsx", "../cli/b.ts"],
  ["runtime/console/pages/calls/a.tsx", "../../../core/b.ts"],
  ["runtime/console/data/a.ts", "../../api/schemas/b.ts"],
  ["runtime/console/pages/calls/a.tsx", "../../../api/resources/b.ts"],
  ["runtime/history/a.ts", "../adapters/nats/b.ts"],
  ["runtime/history/a.ts", "../gateway/b.ts"],
  ["runtime/history/projection/a.ts", "../../adapters/sqlite/b.ts"],
  ["runtime/history/main.ts", "../queue-doctor/b.ts"],
  ["runtime/core/a.ts", "../history/b.ts"],
  ["runtime/core/ports/a.ts", "../../history/b.ts"],
  ["runtime/gateway/a.ts", "../history/b.ts"],
  ["runtime/gateway/a.ts", "../cli/b.ts"],
  ["runtime/gateway/calls/sync/a.ts", "../../../../bench/b.ts"],
  ["runtime/gateway/calls/sync/a.ts", "../../edge/http1/b.ts"],
  ["runtime/gateway/calls/a.ts", "../edge/b.ts"],
  ["runtime/gateway/calls/a.ts", "../../adapters/http/b.ts"],
  ["infra/a.ts", "../runtime/gateway/b.ts"],
  ["infra/a.ts", "../runtime/core/b.ts"],
  ["infra/components/a.ts", "../../runtime/adapters/nats/b.ts"],
  ["infra/manifests/a.ts", "../../runtime/operator/build-operator.ts"],
  ["infra/manifests/a.ts", "../../runtime/core/b.ts"],
  ["infra/manifests/a.ts", "../../scripts/b.ts"],
  ["infra/a.ts", "../test/support/b.ts"],
  ["infra/a.ts", "../bench/b.ts"],
  ["runtime/core/a.ts", "../../test/support/b.ts"],
  ["runtime/gateway/a.ts", "../../scripts/b.ts"],
  ["runtime/host/main.ts", "../../infra/b.ts"],
  ["test/alone/a.ts", "../unit/queue-worker/b.ts"],
  ["test/unit/core/a.ts", "../../integration/b.ts"],
  ["test/unit/core/a.ts", "./c.test.ts"],
  ["test/integration/a.ts", "../e2e/b.ts"],
  ["test/e2e/a.ts", "../clients/grpc/b.ts"],
  ["test/nightly/a.ts", "../alone/b.ts"],
  ["test/nightly-cluster/node/a.ts", "../../cluster/node/b.ts"],
  ["test/cluster/api/a.ts", "../../nightly-cluster/node/b.ts"],
  ["test/contract/a.ts", "../unit/b.ts"],
  ["test/support/a.ts", "../cluster/node/b.ts"],
];

const allowed: readonly Import[] = [
  ["runtime/http1/c.ts", "../api/b.ts"],
  ["runtime/adapters/nats/server/c.ts", "../../../disk/b.ts"],
  ["runtime/host/c.ts", "../disk/b.ts"],
  ["runtime/cli/c.ts", "../disk/b.ts"],
  ["runtime/console/c.tsx", "../api/names.ts"],
  ["runtime/console/pages/calls/c.tsx", "../../data/b.ts"],
  ["runtime/gateway/edge/c.ts", "../../http1/b.ts"],
  ["runtime/watchdog/c.ts", "../http1/b.ts"],
  ["runtime/watchdog/http/c.ts", "../../http1/client/b.ts"],
  ["runtime/http1/client/c.ts", "../../core/ports/b.ts"],
  ["runtime/http1/client/c.ts", "../b.ts"],
  ["runtime/adapters/http/upstream/c.ts", "../../../http1/client/b.ts"],
  ["runtime/api/c.ts", "./b.ts"],
  ["runtime/core/c.ts", "../api/b.ts"],
  ["runtime/core/ports/c.ts", "../calls/call.ts"],
  ["runtime/core/calls/c.ts", "../queues/b.ts"],
  ["runtime/core/ports/c.ts", "../history/b.ts"],
  ["runtime/api/schemas/c.ts", "../names.ts"],
  ["runtime/settings/c.ts", "../api/b.ts"],
  ["runtime/settings/c.ts", "./b.ts"],
  ["runtime/core/ports/c.ts", "../../api/b.ts"],
  ["runtime/process/c.ts", "./b.ts"],
  ["runtime/process/c.ts", "../settings/b.ts"],
  ["runtime/process/metrics/c.ts", "../log.ts"],
  ["runtime/adapters/nats/c.ts", "../../core/ports/b.ts"],
  ["runtime/adapters/nats/server/c.ts", "../../../api/b.ts"],
  ["runtime/adapters/nats/server/c.ts", "../link/nats-link.ts"],
  ["runtime/gateway/c.ts", "../core/b.ts"],
  ["runtime/gateway/c.ts", "../process/b.ts"],
  ["runtime/gateway/rest/c.ts", "../calls/sync/b.ts"],
  ["runtime/gateway/edge/http1/c.ts", "../../calls/b.ts"],
  ["runtime/gateway/calls/sync/c.ts", "../../../http1/b.ts"],
  ["runtime/gateway/c.ts", "../settings/b.ts"],
  ["runtime/queue-worker/c.ts", "../api/b.ts"],
  ["runtime/gateway/main.ts", "../adapters/nats/b.ts"],
  ["runtime/queue-doctor/main.ts", "../adapters/nats/b.ts"],
  ["runtime/history/main.ts", "../adapters/sqlite/b.ts"],
  ["runtime/history/projection/c.ts", "../../core/history/b.ts"],
  ["runtime/host/main.ts", "../gateway/build-gateway.ts"],
  ["runtime/host/main.ts", "../adapters/nats/b.ts"],
  ["runtime/host/parts/c.ts", "../../gateway/build-gateway.ts"],
  ["runtime/host/parts/c.ts", "../../adapters/nats/b.ts"],
  ["runtime/host/settings.ts", "../queue-worker/settings.ts"],
  ["runtime/cli/c.ts", "../api/b.ts"],
  ["runtime/console/c.ts", "../api/b.ts"],
  ["infra/c.ts", "../runtime/gateway/settings.ts"],
  ["infra/c.ts", "../runtime/api/b.ts"],
  ["infra/manifests/rights/c.ts", "../../../runtime/settings/b.ts"],
  ["infra/components/c.ts", "../../runtime/queue-worker/settings.ts"],
  ["infra/manifests/c.ts", "../../runtime/operator/settings.ts"],
  ["infra/manifests/c.ts", "../../runtime/api/b.ts"],
  ["test/unit/c.ts", "../../runtime/adapters/nats/b.ts"],
  ["test/unit/scripts/c.ts", "../../../scripts/cluster/b.ts"],
  ["test/unit/core/c.ts", "./b.ts"],
  ["test/alone/c.ts", "../support/b.ts"],
  ["test/cluster/api/c.ts", "../../contract/b.contract.ts"],
  ["test/support/c.ts", "../contract/b.ts"],
  ["scripts/c.ts", "../runtime/gateway/b.ts"],
  ["bench/rows/c.ts", "../../runtime/gateway/b.ts"],
  ["bench/c.ts", "../scripts/b.ts"],
];

/** Each import in its own file; main.ts and settings.ts keep their names. */
function numbered(imports: readonly Import[]): Import[] {
  return imports.map(([file, imported], index) => {
    const fixed = /\/(?:main|settings)\.ts$/.test(file);
    return [fixed ? file : file.replace(/\.tsx?$/, (end) => `-${index}${end}`), imported];
  });
}

let sandbox: TempDirectory;
let reports: ReadonlyMap<string, readonly string[]>;

/** Reports by `file imported`. */
async function lint(imports: readonly Import[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const byFile = Map.groupBy(imports, ([file]) => file);
  for (const [file, ofFile] of byFile) {
    const path = join(sandbox.path, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, ofFile.map(([, imported]) => `import "${imported}";\n`).join(""));
  }
  await copyFile(join(root, ".oxlintrc.json"), join(sandbox.path, ".oxlintrc.json"));
  const output = await new Promise<string>((resolve) => {
    execFile(oxlint, ["-f", "json"], { cwd: sandbox.path }, (_err, stdout) => resolve(stdout));
  });
  const { diagnostics } = JSON.parse(output) as {
    diagnostics: { code: string; message: string; filename: string }[];
  };
  const restricted = diagnostics.filter(({ code }) => code === "eslint(no-restricted-imports)");
  const key = ({ filename, message }: { filename: string; message: string }): string =>
    `${filename} ${/'([^']*)'/.exec(message)?.[1] ?? ""}`;
  return new Map([...Map.groupBy(restricted, key)].map(([at, found]) => [at, found.map(({ message }) => message)]));
}

const refusedFiles = numbered(refused);
const allowedFiles = numbered(allowed);

beforeAll(async () => {
  sandbox = await tempDirectory("lint");
  reports = await lint([...refusedFiles, ...allowedFiles]);
});

afterAll(() => sandbox?.remove());

describe("the dependency rule in the linter", () => {
  test.each(refusedFiles)("%s may not import %s", (file, imported) => {
    expect(reports.get(`${file} ${imported}`)).toBeDefined();
  });

  test.each(allowedFiles)("%s may import %s", (file, imported) => {
    expect(reports.get(`${file} ${imported}`)).toBeUndefined();
  });

  test("is not evaded by dynamic imports, which the linter does not see", async () => {
    const evading: string[] = [];
    for await (const file of glob("{runtime,infra}/**/*.{ts,tsx}", { cwd: root }))
      for (const [, path = ""] of (await readFile(join(root, file), "utf8")).matchAll(dynamicImport))
        if (!mayImportWhenCalled(file, join(dirname(file), path))) evading.push(`${file} ${path}`);
    expect(evading).toEqual([]);
  });

  test.each([
    ["runtime/cli/command-tree.ts", "runtime/cli/commands/list.ts", true],
    ["runtime/cli/project/read-project.ts", "runtime/api/duration.ts", true],
    ["runtime/cli/command-tree.ts", "runtime/core/calls/retry.ts", false],
    ["runtime/console/page-table.ts", "runtime/console/pages/calls/call-pages.ts", true],
    ["runtime/console/parts/charts/chart.tsx", "runtime/core/calls/retry.ts", false],
    ["runtime/gateway/main.ts", "runtime/gateway/rest/app.ts", false],
    ["runtime/adapters/machine/machine-logs.ts", "runtime/adapters/machine/docker/docker-logs.ts", true],
    ["runtime/adapters/machine/machine-logs.ts", "runtime/adapters/kubernetes/open-kubernetes.ts", false],
  ])("of %s and %s: %s", (file, imported, mayImport) => {
    expect(mayImportWhenCalled(file, imported)).toBe(mayImport);
  });
});

const dynamicImport = /\b(?:import|require)\(\s*["'`](\.\.?\/[^"'`]*)/g;

/**
 * The command line imports what a command needs when it is called, the console pages, an adapter what only one of its kinds needs;
 * they keep to the same rule.
 */
function mayImportWhenCalled(file: string, imported: string): boolean {
  const isIn = (path: string, room: string): boolean => path.startsWith(`runtime/${room}/`);
  if (isIn(file, "console")) return isIn(imported, "console");
  const [, adapter] = /^runtime\/(adapters\/[^/]+)\//.exec(file) ?? [];
  if (adapter !== undefined) return isIn(imported, adapter);
  return isIn(file, "cli") && (isIn(imported, "cli") || isIn(imported, "api"));
}
