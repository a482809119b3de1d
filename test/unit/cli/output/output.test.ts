import { Writable } from "node:stream";

import { describe, expect, test } from "vitest";
import { parse } from "yaml";

import { Output, type OutputFormat, type ShownList } from "../../../../runtime/cli/output/output.ts";
import { heardTerminal } from "../../../support/heard-terminal.ts";

interface Row {
  readonly name: string;
  readonly state: string;
}

const rows: readonly Row[] = [
  { name: "a", state: "Ready" },
  { name: "b\u001B", state: "x" },
];
const list: ShownList<Row> = {
  rows,
  columns: [
    { title: "NAME", cell: ({ name }) => name },
    { title: "STATE", cell: ({ state }) => state, state: true },
  ],
  name: ({ name }) => name,
};

function output(format: OutputFormat, options: { quiet?: boolean; colour?: boolean; columns?: number } = {}) {
  const { quiet = false, colour = false, columns } = options;
  const stdout = columns !== undefined;
  const terminal = heardTerminal({ columns: () => columns, isTerminal: { stdin: stdout, stdout, stderr: stdout } });
  return { written: terminal.written, output: new Output(terminal, { format, quiet, colour }) };
}

describe("a list", () => {
  test("is a table, cut on a terminal and coloured where asked", async () => {
    const plain = output("table");
    await plain.output.list(list);
    expect(plain.written.stdout).toBe(["NAME     STATE", "a        Ready", String.raw`b\u001b  x`, ""].join("\n"));
    const shown = output("table", { colour: true, columns: 12 });
    await shown.output.list(list);
    expect(shown.written.stdout).toContain("\u001B[32mRe…\u001B[39m");
  });

  test("is the API's own JSON, one document that no terminal obeys", async () => {
    const { output: to, written } = output("json");
    await to.list(list);
    expect(JSON.parse(written.stdout)).toEqual(rows);
    expect(written.stdout).not.toContain("\u001B");
    const c1 = output("json");
    await c1.output.document({ a: "\u009B2J\u202E" });
    expect(c1.written.stdout).toMatch(/^[\n -~]+$/);
    expect(JSON.parse(c1.written.stdout)).toEqual({ a: "\u009B2J\u202E" });
  });

  test.each(["json", "yaml"] as const)(
    "is of its own elements in %s, where rows are something else",
    async (format) => {
      const { output: to, written } = output(format);
      await to.list({ ...list, element: ({ name }) => ({ whole: name }) });
      expect(parse(written.stdout)).toEqual([{ whole: "a" }, { whole: "b\u001B" }]);
    },
  );

  test("is [] when empty", async () => {
    const { output: to, written } = output("json");
    await to.list({ ...list, rows: [] });
    expect(written.stdout).toBe("[]\n");
  });

  test("is YAML of the same, byte for byte when piped and escaped on a terminal", async () => {
    const piped = output("yaml");
    await piped.output.list(list);
    expect(parse(piped.written.stdout)).toEqual(rows);
    const value = { a: "\u009B2J" };
    const shown = output("yaml", { columns: 80 });
    await shown.output.document(value);
    expect(shown.written.stdout).not.toContain("\u009B");
    const file = output("yaml");
    await file.output.document(value);
    expect(parse(file.written.stdout)).toEqual(value);
  });

  test("is names, a line each", async () => {
    const { output: to, written } = output("name");
    await to.list({ ...list, rows: [{ name: "a", state: "" }] });
    expect(written.stdout).toBe("a\n");
  });
});

test.each([
  ["table", "text\n"],
  ["name", "it\n"],
  ["json", '{\n  "a": 1\n}\n'],
  ["yaml", "a: 1\n"],
] as const)("a value with -o %s", async (format, expected) => {
  const { output: to, written } = output(format);
  await to.value({ a: 1 }, { text: () => "text\n", name: "it" });
  expect(written).toEqual({ stdout: expected, stderr: "" });
});

describe("stderr", () => {
  test("has notes and warnings, without what moves the cursor", () => {
    const { output: to, written } = output("table");
    to.note("stored\u001B[2J");
    to.warn("careful\r");
    expect(written).toEqual({ stdout: "", stderr: `stored${String.raw`\u001b[2J`}\ncareful${String.raw`\u000d`}\n` });
  });

  test("has warnings alone with -q", () => {
    const { output: to, written } = output("table", { quiet: true });
    to.note("stored");
    to.warn("careful");
    expect(written.stderr).toBe("careful\n");
  });
});

describe("writing", () => {
  test("keeps bytes", async () => {
    const chunks: Buffer[] = [];
    const stdout = new Writable({
      write: (chunk: Buffer, _, done) => {
        chunks.push(chunk);
        done();
      },
    });
    const to = new Output(heardTerminal({ stdout }), { format: "table", quiet: false, colour: false });
    await to.write(Buffer.from([0, 255, 27]));
    await to.write("");
    expect(Buffer.concat(chunks)).toEqual(Buffer.from([0, 255, 27]));
  });

  test("that fails is exit code 1", async () => {
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(new Error("ENOSPC: no space left")) });
    stdout.on("error", () => {});
    const to = new Output(heardTerminal({ stdout }), { format: "table", quiet: false, colour: false });
    await expect(to.write("x")).rejects.toMatchObject({
      exit: 1,
      message: "Cannot write the result: ENOSPC: no space left",
    });
  });
});

test("a state has its colour where there are colours", () => {
  expect(output("table", { colour: true }).output.state("Ready")).toBe("\u001B[32mReady\u001B[39m");
  expect(output("table").output.state("Ready")).toBe("Ready");
});
