import { describe, expect, test } from "vitest";

import { noRoute, openPretendedGateway, problem } from "../../../support/pretended-gateway.ts";

const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";

describe("what needs a history of calls", () => {
  const commands = [
    [["calls", "list"], "Cannot list calls: this gateway has no history; calls show and calls wait need none"],
    [["calls", "ls"], "Cannot list calls: this gateway has no history; calls show and calls wait need none"],
    [["calls", "logs", id], `Cannot show the logs of call "${id}": this gateway has no history`],
    [["calls", "replay", id], `Cannot replay call "${id}": this gateway has no history`],
    ...["show", "wait", "result", "cancel"].map(
      (verb) =>
        [
          ["call", verb, "7f3c1d"],
          `Cannot ${{ wait: "wait for", result: "read the result of" }[verb] ?? verb} call "7f3c1d": this gateway has no history; its beginning is not enough; give its whole id`,
        ] as const,
    ),
  ] as const;

  test.each(commands)("%j says that this gateway has none", async (args, sentence) => {
    for (const reply of [noRoute, problem(404, "history_off", "Cannot list calls: history is off")]) {
      await using gateway = await openPretendedGateway(() => reply);
      expect(await gateway.run(args)).toEqual({ code: 1, stdout: "", stderr: `${sentence}\n` });
      expect(gateway.requests).toEqual([{ method: "GET", target: "/system/calls?limit=1", body: "" }]);
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

  test("says that it is too old for a gateway that has one", async () => {
    await using gateway = await openPretendedGateway(() => ({ json: { items: [] } }));
    const { code, stderr } = await gateway.run(["calls", "list"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Cannot list calls: weir \S+ cannot read this gateway's history; /);
  });
});

test.each(["show", "wait", "result", "cancel", "logs", "replay"])(
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
