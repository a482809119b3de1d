import { expect, test } from "vitest";

import { openPretendedGateway } from "../../../support/pretended-gateway.ts";

/** JSON of a server that is no Weir gateway, or of one that is broken, is said to be that; it is no defect of the command. */
const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";

const commands: readonly (readonly string[])[] = [
  ["list"],
  ["list", "-A"],
  ["describe", "hello"],
  ["scale", "hello", "1"],
  ["deploy", "hello", "--image", "i", "--secret", "s", "--timeout", "1s"],
  ["calls", "show", id],
  ["calls", "wait", id, "--timeout", "1s"],
  ["calls", "list"],
  ["calls", "cancel", "7f3c1d"],
  ["queues", "list"],
  ["queues", "show", "default"],
  ["dead-letters", "list"],
  ["dead-letters", "list", "--queue", "default", "--function", "hello"],
  ["dead-letters", "show", id],
  ["dead-letters", "redrive", "--all", "--yes"],
  ["secrets", "list"],
  ["secrets", "delete", "key", "--yes"],
  ["namespaces", "list"],
  ["namespaces", "show", "dev"],
  ["namespaces", "update", "dev", "--label", "a=b"],
  ["namespaces", "delete", "dev", "--yes"],
];

test.each<[string, unknown]>([
  ["null", null],
  ["a number", 5],
  ["a text", "x"],
  ["a list of nothing", [null]],
  ["a list of empty maps", [{}]],
  ["a list of names that are none", [{ name: 5 }]],
  ["another map", { name: 5, items: 5, conditions: 5, attempts: null, provider: null }],
])("%s is exit code 1 for every command, with a sentence", async (_name, body) => {
  await using gateway = await openPretendedGateway(() => ({ bytes: Buffer.from(JSON.stringify(body)) }));
  for (const args of commands) {
    const { code, stdout, stderr } = await gateway.run(args);
    expect([args, code, stdout]).toEqual([args, 1, ""]);
    expect(stderr).toMatch(/^Cannot read the reply of http\S+: it is not .+; is it a Weir gateway\?\n$/);
  }
});

test.each(["whoami", "version"])(
  "weir %s takes a gateway that says less of itself, but nothing else",
  async (command) => {
    await using other = await openPretendedGateway(() => ({ json: { provider: { name: "faas-netes" } } }));
    expect(await other.run([command])).toMatchObject({ code: 0, stderr: "" });
    await using none = await openPretendedGateway(() => ({ bytes: Buffer.from("null") }));
    expect((await none.run([command])).stderr).toMatch(
      /it is not what a gateway says of itself; is it a Weir gateway\?\n$/,
    );
  },
);
