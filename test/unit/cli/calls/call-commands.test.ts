import { describe, expect, test } from "vitest";

import { noRoute, openPretendedGateway, problem } from "../../../support/pretended-gateway.ts";

const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const summary = {
  callId: id,
  functionName: "hello",
  namespace: "functions",
  state: "done",
  acceptedAt: "2026-01-31T12:00:00.000Z",
};

const noHistory = [noRoute, problem(404, "history_off", "Cannot list calls: history is off")];

describe("what needs a history of calls", () => {
  const commands = [
    [["calls", "list"], "Cannot list calls: this gateway has no history; calls show and calls wait need none"],
    [["calls", "ls"], "Cannot list calls: this gateway has no history; calls show and calls wait need none"],
    ...["show", "wait", "result", "cancel"].map(
      (verb) =>
        [
          ["call", verb, "7f3c1d"],
          `Cannot ${{ wait: "wait for", result: "read the result of" }[verb] ?? verb} call "7f3c1d": this gateway has no history; its beginning is not enough; give its whole id`,
        ] as const,
    ),
  ] as const;

  test.each(commands)("%j says that this gateway has none", async (args, sentence) => {
    for (const reply of noHistory) {
      await using gateway = await openPretendedGateway(() => reply);
      expect(await gateway.run(args)).toEqual({ code: 1, stdout: "", stderr: `${sentence}\n` });
      expect(gateway.requests).toMatchObject([
        { method: "GET", target: expect.stringMatching(/^\/system\/calls\?/), body: "" },
      ]);
    }
  });

  test.each([
    [["calls", "replay", id], `Cannot replay call "${id}": this gateway has no history`],
    [["calls", "logs", id], `Cannot show the logs of call "${id}": this gateway has no history`],
    [["logs", "hello", "--call", id], `Cannot show the logs of call "${id}": this gateway has no history`],
    [["calls", "request", id], `Cannot show the request of call "${id}": this gateway has no history`],
  ])("%j says so, too", async (args, sentence) => {
    for (const reply of noHistory) {
      await using gateway = await openPretendedGateway(() => reply);
      expect(await gateway.run(args)).toEqual({ code: 1, stdout: "", stderr: `${sentence}\n` });
    }
  });

  test("does not say so when the gateway refuses for another reason", async () => {
    await using gateway = await openPretendedGateway(() =>
      problem(403, "forbidden", "Cannot list calls: no policy allows it"),
    );
    const { code, stderr } = await gateway.run(["calls", "list"]);
    expect(code).toBe(4);
    expect(stderr).toMatch(/^Cannot list calls: no policy allows it\n/);
  });
});

describe("the beginning of an id", () => {
  const page = (...ids: readonly string[]) => ({
    json: {
      items: ids.map((callId) => ({ ...summary, callId })),
      total: { value: ids.length, exact: true },
      history: { lagSeconds: 0, complete: true, gaps: [] },
    },
  });

  test("stands for the only call that begins so", async () => {
    await using gateway = await openPretendedGateway(({ method }) => (method === "GET" ? page(id) : { status: 202 }));
    expect(await gateway.run(["calls", "cancel", "7F3C1D52-5c"])).toMatchObject({ code: 0, stdout: "" });
    expect(gateway.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      "GET /system/calls?id=7f3c1d525c&limit=5",
      `DELETE /async-function/${id}`,
    ]);
  });

  test("that no call has is exit code 3", async () => {
    // A gateway that takes no notice of the parameter cancels nothing else.
    for (const reply of [page(), page("00000000-0000-4000-8000-000000000000")]) {
      await using gateway = await openPretendedGateway(() => reply);
      expect(await gateway.run(["calls", "cancel", "7f3c1d"])).toEqual({
        code: 3,
        stdout: "",
        stderr: 'Cannot cancel call "7f3c1d": the history has no call that begins so\n',
      });
      expect(gateway.requests).toHaveLength(1);
    }
  });

  test("that several calls have is a mistake on the command line, which names them", async () => {
    const other = id.replace(/.$/, "1");
    await using gateway = await openPretendedGateway(() => page(id, other));
    expect(await gateway.run(["calls", "cancel", "7f3c1d"])).toEqual({
      code: 2,
      stdout: "",
      stderr: `Cannot cancel call "7f3c1d": several calls begin so, give more digits: ${id}, ${other}\n`,
    });
    expect(gateway.requests).toHaveLength(1);
  });
});

test.each(["show", "wait", "result", "cancel", "logs", "request", "replay"])(
  "calls %s sends nothing for what is no id",
  async (verb) => {
    await using gateway = await openPretendedGateway(() => noRoute);
    const { code, stdout, stderr } = await gateway.run(["calls", verb, "../system/info"]);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain('call "../system/info": an id is a UUID, or at least 6 digits of its beginning\n');
    expect(gateway.requests).toEqual([]);
  },
);
