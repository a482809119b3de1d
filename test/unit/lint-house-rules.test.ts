import { execFile } from "node:child_process";
import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Rule, file that breaks it, text of that file. */
const refused: readonly (readonly [rule: string, file: string, text: string])[] = [
  [
    "typescript(no-explicit-any)",
    "runtime/core/any.ts",
    "export const loose = (value: any): string => String(value);\n",
  ],
  [
    "typescript(no-non-null-assertion)",
    "runtime/core/non-null.ts",
    "export const sure = (x?: string): string => x!;\n",
  ],
  [
    "typescript(no-floating-promises)",
    "runtime/core/floating.ts",
    "export function go(): void {\n  Promise.resolve(1);\n}\n",
  ],
  ["typescript(ban-ts-comment)", "runtime/core/ban.ts", '// @ts-ignore\nexport const one: number = "1";\n'],
  ["import(no-default-export)", "runtime/core/default.ts", "export default 1;\n"],
  [
    "import(no-cycle)",
    "runtime/core/cycle-a.ts",
    'import { b } from "./cycle-b.ts";\nexport const a = (): number => b();\n',
  ],
  [
    "import(no-cycle)",
    "runtime/core/type-cycle-a.ts",
    'import { type B } from "./type-cycle-b.ts";\nexport interface A {\n  readonly b: B;\n}\n',
  ],
  ["eslint(no-console)", "runtime/gateway/console.ts", 'export const say = (): void => console.log("x");\n'],
  ["node(no-process-env)", "runtime/gateway/env.ts", 'export const home = (): unknown => process.env["HOME"];\n'],
  ["unicorn(filename-case)", "runtime/core/camelCase.ts", "export const one = 1;\n"],
  ["eslint(max-lines)", "runtime/core/long.ts", "export {};\n".repeat(301)],
  ["eslint(max-lines)", "runtime/queue-doctor/main.ts", "export {};\n".repeat(61)],
];

const allowed: Readonly<Record<string, string>> = {
  "runtime/core/cycle-b.ts": 'import { a } from "./cycle-a.ts";\nexport const b = (): number => a();\n',
  "runtime/core/type-cycle-b.ts":
    'import type { A } from "./type-cycle-a.ts";\nexport interface B {\n  readonly a: A;\n}\n',
  "runtime/gateway/main.ts": `${"\n".repeat(59)}export const one = 1;\n`,
  "runtime/process/settings.ts": 'export const home = (): unknown => process.env["HOME"];\n',
  "scripts/say.ts": 'console.log("x");\n',
  "vitest.config.ts": "export default {};\n",
};

let sandbox: TempDirectory;
let reports: readonly { readonly code: string; readonly filename: string }[];

beforeAll(async () => {
  sandbox = await tempDirectory("lint");
  const files = [...refused.map(([, file, text]) => [file, text] as const), ...Object.entries(allowed)];
  for (const [file, text] of files) {
    await mkdir(dirname(join(sandbox.path, file)), { recursive: true });
    await writeFile(join(sandbox.path, file), text);
  }
  await copyFile(join(root, ".oxlintrc.json"), join(sandbox.path, ".oxlintrc.json"));
  await copyFile(join(root, "tsconfig.json"), join(sandbox.path, "tsconfig.json"));
  await symlink(join(root, "node_modules"), join(sandbox.path, "node_modules"));
  const output = await new Promise<string>((resolve) => {
    const oxlint = join(root, "node_modules", ".bin", "oxlint");
    execFile(oxlint, ["--type-aware", "-f", "json"], { cwd: sandbox.path }, (_err, stdout) => resolve(stdout));
  });
  const { diagnostics } = JSON.parse(output) as { diagnostics: { code: string; filename: string }[] };
  reports = diagnostics;
});

afterAll(() => sandbox?.remove());

describe("the linter", () => {
  test.each(refused)("reports %s in %s", (rule, file) => {
    expect(reports.filter(({ filename }) => filename === file).map(({ code }) => code)).toContain(rule);
  });

  test.each(["runtime/gateway/main.ts", "runtime/process/settings.ts", "scripts/say.ts", "vitest.config.ts"])(
    "has nothing to say about %s",
    (file) => {
      expect(reports.filter(({ filename }) => filename === file)).toEqual([]);
    },
  );
});
