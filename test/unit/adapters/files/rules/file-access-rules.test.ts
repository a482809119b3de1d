import { execFileSync } from "node:child_process";
import { chmod, mkdir, rename, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { FileAccessRules } from "../../../../../runtime/adapters/files/rules/file-access-rules.ts";
import { accessRulesContract } from "../../../../contract/access-rules.contract.ts";
import { openRuleDirectory, writeRules } from "../../../../support/rule-directory.ts";
import { tempDirectory } from "../../../../support/temp-directory.ts";

const policy = (name: string, action = "Function:*") => ({
  apiVersion: "iam.service.com/v1",
  kind: "Policy",
  metadata: { name },
  spec: { statement: [{ sid: "s", effect: "Allow", action: [action], resource: ["dev:*"] }] },
});
const role = (name: string, ...policies: readonly string[]) => ({
  apiVersion: "iam.service.com/v1",
  kind: "Role",
  metadata: { name },
  spec: { policy: policies },
});

describe("FileAccessRules", () => {
  accessRulesContract(async () => {
    const directory = await openRuleDirectory();
    const fileOf = ({ kind, metadata }: { readonly kind: string; readonly metadata: { readonly name: string } }) =>
      `${kind}-${metadata.name}.yaml`.toLowerCase();
    return {
      rules: directory.rules,
      put: (manifest) => directory.write(fileOf(manifest), manifest),
      remove: (manifest) => directory.remove(fileOf(manifest)),
      close: async () => await directory[Symbol.asyncDispose](),
    };
  });
});

test("reads all documents of all YAML files of the directory, and no others", async () => {
  await using directory = await openRuleDirectory(async (path) => {
    await writeRules(join(path, "a.yaml"), policy("one"), "# nothing\n", policy("two"));
    await writeRules(join(path, "b.yml"), policy("three"));
    await writeRules(join(path, "c.yaml.txt"), policy("four"));
    await writeRules(join(path, ".d.yaml"), policy("five"));
    await symlink(join(path, "nowhere"), join(path, ".#a.yaml"));
    await mkdir(join(path, "e"));
    await writeRules(join(path, "e", "f.yaml"), policy("six"));
  });
  expect([...(directory.seen[0]?.policies.keys() ?? [])].sort()).toEqual(["one", "three", "two"]);
  expect(directory.seen[0]?.faults).toEqual([]);
});

test("a fault names file, line, field, value and rule", async () => {
  await using directory = await openRuleDirectory((path) =>
    writeRules(join(path, "a.yaml"), policy("one"), policy("two", "Function:Delte"), "kind: Rol\n", "a: [\n"),
  );
  expect([...(directory.seen[0]?.policies.keys() ?? [])]).toEqual(["one"]);
  expect(directory.seen[0]?.faults).toEqual([
    {
      subject: 'Policy "two"',
      place: "a.yaml:23",
      sentence:
        'it is left out: field "spec.statement[0].action[0]" is "Function:Delte": expected an action such as "Function:Delete" or "Function:*"; did you mean "Function:Delete"?',
    },
    {
      subject: 'file "a.yaml"',
      place: "a.yaml:27",
      sentence: 'it is left out: field "kind" is "Rol": expected JwtIssuer, Policy or Role; did you mean Role?',
    },
    {
      subject: 'file "a.yaml"',
      place: "a.yaml:30",
      sentence: expect.stringContaining("it is left out: it is not YAML of the core schema"),
    },
  ]);
});

test("two documents of one name are one document and a fault, with the places of both", async () => {
  await using directory = await openRuleDirectory(async (path) => {
    await writeRules(join(path, "b.yaml"), policy("one", "Function:List"));
    await writeRules(join(path, "a.yaml"), policy("one", "Function:Get"));
  });
  expect(directory.seen[0]?.policies.get("one")?.statement[0]?.action).toEqual(["Function:Get"]);
  expect(directory.seen[0]?.faults).toMatchObject([{ subject: 'Policy "one"', place: "b.yaml:1" }]);
});

describe("a file", () => {
  test("that others may write is refused, until they may not", async () => {
    await using directory = await openRuleDirectory(async (path) => {
      await writeRules(join(path, "a.yaml"), policy("one"));
      await writeRules(join(path, "b.yaml"), policy("two"));
      await chmod(join(path, "a.yaml"), 0o664);
    });
    const file = join(directory.path, "a.yaml");
    expect([...(directory.seen[0]?.policies.keys() ?? [])]).toEqual(["two"]);
    expect(directory.seen[0]?.faults).toEqual([
      {
        subject: 'file "a.yaml"',
        place: "a.yaml",
        sentence: `it is left out: others than its owner may write it (mode 0664): run chmod go-w "${file}"`,
      },
    ]);
    await chmod(file, 0o600);
    await directory.until("both", ({ policies, faults }) => policies.size === 2 && faults.length === 0);
    await chmod(file, 0o602);
    await directory.until("one", ({ policies, faults }) => policies.size === 1 && faults.length === 1);
  });

  test.each([
    [
      "that is a link",
      async (path: string) => {
        await writeRules(`${path}.target`, policy("linked"));
        await symlink(`${path}.target`, path);
      },
      "it is a symbolic link",
    ],
    [
      "that is a pipe",
      async (path: string) => void execFileSync("mkfifo", ["-m", "600", path]),
      "it is not a regular file",
    ],
    ["that is a directory", (path: string) => mkdir(path, { mode: 0o700 }), "it is not a regular file"],
    [
      "that has 5 MB",
      async (path: string) => {
        await writeRules(path, policy("big"));
        await truncate(path, 5_000_000);
      },
      "it has 5000000 bytes: expected fewer than 5000000",
    ],
    [
      "that is not text",
      (path: string) => writeFile(path, Uint8Array.of(0x61, 0xff), { mode: 0o600 }),
      "it is not UTF-8 text",
    ],
    [
      "that has an alias inside its own anchor",
      (path: string) => writeRules(path, "a: &a [*a]\n"),
      'alias "a" names nothing before it',
    ],
    [
      "that has a document of 64 KiB",
      (path: string) => writeRules(path, `a: ${"x".repeat(65_536)}`),
      "over the limit of 65536",
    ],
  ])("%s is left out, the others stay", async (_what, make, reason) => {
    await using directory = await openRuleDirectory((path) => writeRules(join(path, "a.yaml"), policy("one")));
    await make(join(directory.path, "b.yaml"));
    const rules = await directory.until("its fault", ({ faults }) => faults.length === 1);
    expect([...rules.policies.keys()]).toEqual(["one"]);
    expect(rules.faults).toMatchObject([
      { subject: 'file "b.yaml"', sentence: expect.stringContaining(`it is left out: `) },
    ]);
    expect(rules.faults[0]?.sentence).toContain(reason);
  });

  test("with many wrong documents has a hundred faults and a sum", async () => {
    await using directory = await openRuleDirectory((path) =>
      writeRules(join(path, "a.yaml"), ...Array.from({ length: 150 }, () => "a: b\n"), policy("one")),
    );
    expect([...(directory.seen[0]?.policies.keys() ?? [])]).toEqual(["one"]);
    expect(directory.seen[0]?.faults).toHaveLength(101);
    const sentence = "it is left out: 50 more documents of this file are wrong";
    expect(directory.seen[0]?.faults).toContainEqual({ subject: 'file "a.yaml"', place: "a.yaml:1", sentence });
  });

  test("that the system cannot read keeps what it held before, with a fault", async () => {
    await using directory = await openRuleDirectory((path) => writeRules(join(path, "a.yaml"), policy("one")));
    const file = join(directory.path, "a.yaml");
    await rm(file);
    // A socket cannot be opened, whoever tries.
    const server = createServer();
    const listening = Promise.withResolvers<void>();
    server.listen(file, listening.resolve);
    await listening.promise;
    try {
      const rules = await directory.until("its fault", ({ faults }) => faults.length === 1);
      expect([...rules.policies.keys()]).toEqual(["one"]);
      expect(rules.faults).toMatchObject([
        {
          subject: 'file "a.yaml"',
          sentence: expect.stringMatching(/cannot be read.*what it held before stays in force$/),
        },
      ]);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    await directory.until(
      "nothing, as the file is gone",
      ({ policies, faults }) => policies.size + faults.length === 0,
    );
  });
});

describe("a change", () => {
  test("of one file reads no other again, and one of times alone is none", async () => {
    await using directory = await openRuleDirectory(async (path) => {
      await writeRules(join(path, "a.yaml"), policy("one"));
      await writeRules(join(path, "b.yaml"), policy("two"));
    });
    const [before] = directory.seen;
    await utimes(join(directory.path, "a.yaml"), 1, 1);
    await directory.write("b.yaml", policy("two", "Function:List"));
    const after = await directory.until("it", ({ version }) => version !== before?.version);
    expect(after.policies.get("one")?.statement).toBe(before?.policies.get("one")?.statement);
    expect(after.policies.get("two")?.statement).not.toEqual(before?.policies.get("two")?.statement);
    expect(directory.seen).toHaveLength(2);
  });

  test("of many in a row, of equal size and within one tick of the clock, is not missed", async () => {
    await using directory = await openRuleDirectory((path) => writeRules(join(path, "a.yaml"), policy("n-000")));
    const file = join(directory.path, "a.yaml");
    for (let count = 1; count <= 50; count += 1) {
      await writeRules(file, policy(`n-${String(count).padStart(3, "0")}`));
    }
    await directory.until("the last", ({ policies }) => policies.has("n-050"));
    const { mtime } = await stat(file);
    await writeFile(file, JSON.stringify(policy("n-051")));
    await utimes(file, mtime, mtime);
    await directory.until("one that kept its time", ({ policies }) => policies.has("n-051"));
  });

  test("in a directory that was replaced by another is seen", async () => {
    await using directory = await openRuleDirectory((path) => writeRules(join(path, "a.yaml"), policy("one")));
    const old = `${directory.path}.old`;
    try {
      await rename(directory.path, old);
      await mkdir(directory.path, { mode: 0o700 });
      await directory.write("b.yaml", policy("two"));
      await directory.until("the new file", ({ policies }) => policies.has("two") && policies.size === 1);
      await directory.write("b.yaml", policy("three"));
      await directory.until("a change of it", ({ policies }) => policies.has("three"));
    } finally {
      await rm(old, { recursive: true });
    }
  });
});

describe("a directory", () => {
  test("that others may write is refused", async () => {
    await using directory = await tempDirectory("rules");
    await chmod(directory.path, 0o770);
    await expect(FileAccessRules.open(directory.path)).rejects.toThrow(
      `Cannot read rules in "${directory.path}": others than its owner may write it (mode 0770): run chmod go-w "${directory.path}"`,
    );
  });

  test("that is not there, or is none, is refused", async () => {
    await using directory = await tempDirectory("rules");
    const path = join(directory.path, "x");
    await expect(FileAccessRules.open(path)).rejects.toThrow(`Cannot read rules in "${path}": it does not exist`);
    await writeFile(path, "");
    await expect(FileAccessRules.open(path)).rejects.toThrow(`Cannot read rules in "${path}": it is not a directory`);
  });

  test.each([
    [
      "that others may write later",
      (path: string) => chmod(path, 0o777),
      (path: string) => chmod(path, 0o700),
      "others than its owner may write it (mode 0777)",
    ],
    [
      "that is gone later",
      (path: string) => rename(path, `${path}.x`),
      (path: string) => rename(`${path}.x`, path),
      "it does not exist",
    ],
  ])("%s keeps the last good rules in force", async (_what, spoil, mend, reason) => {
    await using directory = await openRuleDirectory((path) => writeRules(join(path, "a.yaml"), role("all", "none")));
    await spoil(directory.path);
    const rules = await directory.until("its fault", ({ faults }) => faults.length === 2);
    expect(rules.roles).toHaveLength(1);
    const fault = rules.faults.find(({ subject }) => subject === `directory "${directory.path}"`);
    expect(fault?.sentence).toContain(reason);
    expect(fault?.sentence).toMatch(/; the rules that were read before stay in force$/);
    await mend(directory.path);
    await directory.until("no such fault", ({ faults }) => faults.length === 1);
    await directory.write("a.yaml", role("other"), role("all", "none"));
    await directory.until("later changes", ({ faults }) => faults.length === 2);
  });
});

test("10 000 roles in one file are read", async () => {
  const text = Array.from({ length: 10_000 }, (_, index) => `---\n${JSON.stringify(role(`role-${index}`, "one"))}\n`);
  const simple = `---\napiVersion: iam.service.com/v1\nkind: Role\nmetadata:\n  name: NAME\nspec:\n  policy: [one]\n`;
  const roles = text.map((each, index) => (index % 10 === 0 ? each : simple.replace("NAME", `role-${index}`)));
  await using directory = await openRuleDirectory((path) =>
    writeRules(join(path, "a.yaml"), policy("one"), roles.join("")),
  );
  expect(directory.seen[0]?.roles).toHaveLength(10_000);
  expect(directory.seen[0]?.faults).toEqual([]);
});
