import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import type { ProblemDetails } from "../../runtime/api/schemas/problem-details.ts";
import { apiVersion } from "../../runtime/api/version.ts";
import { documentPath } from "../../runtime/gateway/openapi/operation.ts";
import { routeTable } from "../../runtime/gateway/rest/route-table.ts";
import type { RouteEntry } from "../../runtime/gateway/rest/route.ts";
import { findTool } from "../../scripts/debian-tool.ts";
import { pythonPackages } from "../../scripts/python-packages.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { say } from "../support/say.ts";
import { openShell } from "../support/shell-session.ts";
import { clientsFlags, walkClients } from "../support/walk-clients.ts";
import { walkedWeir } from "../support/walked-weir.ts";

const programs = fileURLToPath(new URL("../clients", import.meta.url));
/** Milliseconds for the first build in Go, which downloads its dependencies, and for a program. */
const build = 600_000;
const programTimeout = 120_000;

const documented = routeTable.filter((entry) => entry.documented !== false);
/** Operations that the programs call too late, on missing objects, or with a token that nobody issued. */
const refused: Readonly<Record<string, number>> = {
  cancelCall: 409,
  cancelCallOfFunction: 409,
  redriveDeadLetter: 404,
  deleteDeadLetter: 404,
  exchangeToken: 400,
};

const go = findTool("go");
if (go === undefined) say('Skipped: the client of docs/reference/clients.md in Go; "go" is missing');
const [python, generator] = await Promise.all(
  ["python", "openapi-generator"].map((name) => pythonPackages(`${programs}/${name}/requirements.txt`, say)),
);

/** Sections of docs/reference/clients.md, each with the directory and command of its program for all operations. */
const clients = [
  { heading: "TypeScript", directory: "weir-typescript", command: "node every-operation.ts", there: true },
  {
    heading: "Python",
    packages: "python",
    directory: "weir-python",
    command: "PYTHONPATH=packages python3 every_operation.py",
    there: typeof python === "object",
  },
  { heading: "Go", directory: "weir-go", command: "go run .", there: go !== undefined },
  {
    heading: "OpenAPI Generator",
    packages: "openapi-generator",
    directory: "weir-generator",
    command: "PYTHONPATH=packages python3 every_operation.py",
    there: typeof generator === "object",
  },
];

const walked = walkedWeir("generated", { flags: clientsFlags, within: 60_000 });
let newer: FunctionServer;

beforeAll(async () => {
  newer = await openFunctionServer((request, response) => {
    const { status, type, body } = unknownResponse(request.url ?? "");
    response.writeHead(status, { "content-type": type }).end(body);
  });
  if (go === undefined) return;
  const packages = [
    "net/http",
    "github.com/oapi-codegen/runtime",
    "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen",
  ];
  await promisify(execFile)(go, ["build", ...packages], { cwd: `${programs}/go`, timeout: build });
}, build);
afterAll(() => newer?.close());

/** Responses of a gateway that is newer than the document, and of a function, which may reply as it likes. */
function unknownResponse(target: string) {
  if (target.startsWith("/function/")) return { status: 404, type: "text/plain", body: "no such page" };
  return target.startsWith("/system/")
    ? { status: 404, type: "application/problem+json", body: JSON.stringify(unknownCode) }
    : { status: 200, type: "application/json", body: JSON.stringify(unknownState) };
}

const unknownCode = {
  type: "urn:weir:error:function_hibernates",
  title: "Not Found",
  status: 404,
  detail: 'Cannot find function "shout": it hibernates',
  instance: "/system/function/shout",
  code: "function_hibernates",
  wakesAt: "2026-03-01T00:00:00Z",
} satisfies Omit<ProblemDetails, "code"> & { readonly code: string; readonly wakesAt: string };
const unknownState = {
  callId: "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10",
  functionName: "shout",
  namespace: "functions",
  queue: "default",
  state: "hibernating",
  acceptedAt: "2026-01-31T12:00:00.000Z",
  startTime: "1769860800000000000",
  retries: 0,
  maxRetries: 10,
  attempts: [],
  callback: { url: "https://example.com/done", state: "postponed", attempts: 0 },
} satisfies Omit<CallRecord, "state" | "callback"> & { readonly state: string; readonly callback: object };

for (const { heading, packages, directory, command, there } of clients) {
  if (there) await walkClients(walked, heading, packages);

  describe.skipIf(!there)(`the client of ${heading}`, () => {
    let printed: readonly string[] = [];

    test("calls every operation of the document", { timeout: 2 * programTimeout }, async () => {
      const { directory: temporary, weir } = walked();
      await using shell = openShell({ directory: `${temporary.path}/${directory}` });
      const run = `echo '${weir.password}' | ${command} ${weir.url} ${weir.user} http://${newer.address}`;
      const { stdout, stderr, code } = await shell.run(run, programTimeout);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      printed = stdout.trim().split("\n");

      const statuses = statusesIn(printed);
      const expected = documented.map((entry) => [entry.id, expectedStatus(entry)]);
      const found = documented.map((entry) => [entry.id, statuses.get(keyOf(entry.id))]);
      expect(found).toEqual(expected);
    });

    test("sends nested paths and queries, and reads states and logs", () => {
      expect(printed).toContain("the function got /a/b?x=1");
      expect(printed).toContain("the call is done");
      expect(printed).toContain("the function wrote called");
      expect(printed).toContain("afterwards: namespace_not_found");
    });

    test("reads the history of a call, replays it and deletes it", () => {
      expect(printed).toContain("the history lists the call as done");
      expect(printed).toContain("the call began when it was accepted");
      expect(printed).toContain("the call wrote called");
      expect(printed).toContain("the request was POST hello");
      expect(printed).toContain("the replay is done");
      expect(printed).toContainEqual(expect.stringMatching(/^the replay of (\S{36}) names \1$/));
      expect(printed).toContain("the request after that: request_not_kept");
      expect(printed).toContain("the rollups count calls of shout");
    });

    test("reads what the platform says of itself and of its user", () => {
      expect(printed).toContain("the page begins with <!doctype html>");
      expect(printed).toContain("the doctor sees the gateway");
      expect(printed).toContain("callbacks are signed with OKP");
      expect(printed).toContain(`the stream says hello of API ${apiVersion}`);
      expect(printed).toContain(`the user is ${walked().weir.user}`);
      expect(printed).toContain("a deletion is allowed by the administrator");
      expect(printed).toContain(`the audit has Function:Create by ${walked().weir.user}`);
    });

    test("accepts a code and states that it does not know", () => {
      expect(printed).toContain("new code: function_hibernates");
      expect(printed).toContain("new state: hibernating");
    });

    test("reads a function's own error, which is not JSON", () => {
      expect(printed).toContain("own error: no such page");
    });
  });
}

/**
 * The first status of each operation, by its key; a program names operations in the style of its language, or by method
 * and path.
 */
function statusesIn(lines: readonly string[]): ReadonlyMap<string, number> {
  const statuses = new Map<string, number>();
  for (const line of lines) {
    const [, name, status] = /^(\w+(?: \/\S*)?) (\d{3})$/.exec(line) ?? [];
    if (name === undefined) continue;
    const entry = documented.find(({ method, path }) => `${method} ${documentPath(path)}` === name);
    const key = keyOf(entry?.id ?? name);
    if (!statuses.has(key)) statuses.set(key, Number(status));
  }
  return statuses;
}

function expectedStatus({ id, responses: [first] }: RouteEntry): number {
  return refused[id] ?? (first.status === "default" ? 200 : first.status);
}

/** The same for `getInfo`, `GetInfo` and `get_info`. */
function keyOf(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}
