import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { expect, test } from "vitest";

const run = promisify(execFile);

/** Names of the modules that are imported with a file of the command, in the order in which they are resolved. */
async function loadedWith(file: string): Promise<readonly string[]> {
  const { href } = new URL(`../../../../runtime/cli/${file}`, import.meta.url);
  const program = `
    import { registerHooks } from "node:module";
    const names = [];
    registerHooks({ resolve: (name, context, next) => { names.push(name); return next(name, context); } });
    await import(${JSON.stringify(href)});
    process.stdout.write(JSON.stringify(names));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program]);
  return JSON.parse(stdout) as readonly string[];
}

test.each([
  "run-cli.ts",
  "client/gateway-client.ts",
  "sign-in/renew-sign-in.ts",
  "sign-in/revoke-sign-in.ts",
  "sign-in/sign-in.ts",
])("no library of schemas is loaded with %s", async (file) => {
  const names = await loadedWith(file);
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter((name) => /^(?:typebox|ajv|openid-client)(?:\/|$)/.test(name))).toEqual([]);
});
