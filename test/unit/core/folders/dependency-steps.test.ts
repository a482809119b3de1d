import { describe, expect, test } from "vitest";

import { dependencySteps, type DependencySteps } from "../../../../runtime/core/folders/dependency-steps.ts";

const hello = { namespace: "functions", name: "hello" };
const lists: Readonly<Record<string, string>> = {
  "package.json": '{"name":"hello","scripts":{"start":"node ."},"dependencies":{"ms":"^2.1.3"}}',
  "package-lock.json": '{"lockfileVersion":3}',
  "requirements.txt": "pillow==11.0.0 \\\n  --hash=sha256:00\n# pinned\nflask[async]>=3 ; python_version > '3.9'\n\n",
  "go.mod": "module hello\n\ngo 1.26\n",
};

const stepsOf = (commands: readonly string[], files = lists): Promise<DependencySteps | undefined> =>
  dependencySteps(hello, commands, (path) => Promise.resolve(files[path]));

test.each([
  [["npm ci"], 1],
  [["npm ci --omit=dev --no-audit", "npm run build"], 1],
  [["python3 -m venv .venv", ".venv/bin/pip install -r requirements.txt", "make"], 2],
  [["python3 -m pip install -q --target lib -r requirements.txt"], 1],
  [["env PIP_INDEX_URL='https://a b' CI=1 pip3 install -r requirements.txt", "env CI=1 make"], 1],
  [["go mod download", "go build -o function ."], 1],
])("%j: the first %i only install", async (commands, count) => {
  expect(await stepsOf(commands)).toMatchObject({ install: commands.slice(0, count), rest: commands.slice(count) });
});

test.each([
  [["npm run build", "npm ci"]],
  [["npm ci --prefix web"]],
  [["npm install left-pad"]],
  [["pip install ."]],
  [["pip install -e . -r requirements.txt"]],
  [["pip install -r ../requirements.txt"]],
  [["go build -o function ."]],
  [["python3 -m venv .venv"]],
  [["npm ci && make"]],
  [[]],
])("%j may depend on any file", async (commands) => {
  expect(await stepsOf(commands)).toBeUndefined();
});

test.each([
  ["a script that npm runs itself", { "package.json": '{"scripts":{"prepare":"tsc"}}' }],
  ["a package of the folder", { "package.json": '{"dependencies":{"lib":"file:./lib"}}' }],
  ["workspaces", { "package.json": '{"workspaces":["a"]}' }],
  ["a link in the lock file", { "package-lock.json": '{"packages":{"a":{"link": true}}}' }],
  ["a list that cannot be read", { "package.json": "{" }],
  ["something to compile", { "binding.gyp": "{}" }],
])("npm with %s may depend on any file", async (_name, files) => {
  expect(await stepsOf(["npm ci"], { ...lists, ...files })).toBeUndefined();
});

test.each(["-e .", "./lib", "../lib", "-r more.txt", "lib @ file:///srv/lib", "/srv/lib.whl"])(
  "pip with %s may depend on any file",
  async (line) => {
    expect(
      await stepsOf(["pip install -r requirements.txt"], { "requirements.txt": `flask\n${line}\n` }),
    ).toBeUndefined();
  },
);

describe("the key", () => {
  const keyOf = async (commands: readonly string[], files = lists) => (await stepsOf(commands, files))?.key;

  test("is that of the lists and of what installs them", async () => {
    const key = await keyOf(["npm ci", "npm run build"]);
    expect(await keyOf(["npm ci", "npm test"])).toBe(key);
    expect(await keyOf(["npm ci", "npm test"], { ...lists, "app.js": "" })).toBe(key);
    expect(await keyOf(["npm ci --omit=dev"])).not.toBe(key);
    expect(await keyOf(["npm ci"], { ...lists, "package-lock.json": "{}" })).not.toBe(key);
    const other = await dependencySteps({ ...hello, name: "other" }, ["npm ci"], (path) =>
      Promise.resolve(lists[path]),
    );
    expect(other?.key).not.toBe(key);
  });
});
