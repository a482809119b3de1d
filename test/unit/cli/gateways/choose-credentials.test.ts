import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { GatewayCredentials } from "../../../../runtime/cli/client/gateway-credentials.ts";
import {
  checkTransport,
  chooseCredentials,
  flaggedCredentials,
  type CredentialFlags,
} from "../../../../runtime/cli/gateways/choose-credentials.ts";
import { namedGateway, type ChosenGateway } from "../../../../runtime/cli/gateways/choose-gateway.ts";
import { storeCredentials } from "../../../../runtime/cli/gateways/stored-credentials.ts";
import { heardTerminal, type HeardTerminalOptions } from "../../../support/heard-terminal.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const here = namedGateway("http://127.0.0.1:8080", "a test");
const basic = (password: string, user = "admin"): GatewayCredentials => ({ kind: "basic", user, password });
const bearer = (token: string): GatewayCredentials => ({ kind: "bearer", token });

/** A home with credentials from every source; each is what names it. */
async function place() {
  const { path, remove } = await tempDirectory("choose-credentials");
  const local = { directory: join(path, ".weir"), address: here.address };
  await mkdir(join(local.directory, "credentials"), { recursive: true });
  await writeFile(join(local.directory, "credentials", "basic-auth-user"), "local");
  await writeFile(join(local.directory, "credentials", "basic-auth-password"), "of the data directory\n");
  await writeFile(join(path, "password"), "  of a file \n");
  await writeFile(join(path, "variable"), "of a variable\n");
  await writeFile(join(path, "token"), "token-of-a-file\n");
  await storeCredentials(join(path, ".config", "weir", "credentials.yaml"), here.address, basic("stored"));
  return {
    path,
    local,
    [Symbol.asyncDispose]: remove,
    choose: (
      flags: CredentialFlags,
      options: HeardTerminalOptions = {},
      gateway: ChosenGateway = here,
    ): Promise<GatewayCredentials | undefined> =>
      chooseCredentials({
        gateway,
        flags,
        local,
        terminal: heardTerminal({ home: path, directory: path, ...options }),
      }),
  };
}

test("flags come before the environment, that before what is stored, that before the data directory", async () => {
  await using at = await place();
  const environment = { WEIR_TOKEN: "token-of-a-variable", WEIR_USER: "me", WEIR_PASSWORD_FILE: "variable" };
  const { WEIR_TOKEN: _, ...withoutToken } = environment;
  expect(await at.choose({ tokenFile: "token" }, { environment })).toEqual(bearer("token-of-a-file"));
  expect(await at.choose({ passwordFile: "password", user: "you" }, { environment })).toEqual(
    basic("of a file", "you"),
  );
  expect(await at.choose({ passwordStdin: true }, { environment, input: "of a pipe \r\n" })).toEqual(
    basic("of a pipe "),
  );
  expect(await at.choose({}, { environment })).toEqual(bearer("token-of-a-variable"));
  expect(await at.choose({}, { environment: withoutToken })).toEqual(basic("of a variable", "me"));
  expect(await at.choose({}, { environment: { WEIR_PASSWORD_FILE: "variable" } })).toEqual(basic("of a variable"));
  expect(await at.choose({})).toEqual(basic("stored"));
  expect(await at.choose({}, { home: "/nonexistent" })).toEqual(basic("of the data directory", "local"));
  const elsewhere = namedGateway("http://127.0.0.1:9", "a test");
  expect(await at.choose({}, {}, elsewhere)).toBeUndefined();
});

test("a gateway that only weir.yaml names gets none of the environment", async () => {
  await using at = await place();
  const environment = { WEIR_TOKEN: "token", WEIR_USER: "me", WEIR_PASSWORD_FILE: "variable" };
  const byProject = { ...here, byProject: true };
  expect(await at.choose({}, { environment }, byProject)).toEqual(basic("stored"));
  const other = { ...namedGateway("https://evil.example.com", "weir.yaml"), byProject: true };
  expect(await at.choose({}, { environment }, other)).toBeUndefined();
  // Who says so means it.
  expect(await at.choose({ tokenFile: "token" }, { environment }, other)).toEqual(bearer("token-of-a-file"));
});

test("empty variables say nothing", async () => {
  await using at = await place();
  const environment = { WEIR_TOKEN: "", WEIR_USER: "", WEIR_PASSWORD_FILE: "" };
  expect(await at.choose({}, { environment })).toEqual(basic("stored"));
  expect(await at.choose({}, { environment: { ...environment, WEIR_PASSWORD_FILE: "variable" } })).toEqual(
    basic("of a variable"),
  );
});

test("a Weir that does not run may be the one of any address of this machine, and of no other", async () => {
  await using at = await place();
  const choose = (address: string) =>
    chooseCredentials({
      gateway: namedGateway(address, "a test"),
      flags: {},
      local: { ...at.local, address: undefined },
      terminal: heardTerminal(),
    });
  expect(await choose("http://localhost:9")).toEqual(basic("of the data directory", "local"));
  expect(await choose("https://weir.example.com")).toBeUndefined();
});

describe("flags that cannot be used", () => {
  test.each<readonly [CredentialFlags, number, string]>([
    [{ user: "me" }, 2, "Cannot use --user: give its password with --password-file or --password-stdin"],
    [
      { passwordFile: "password", tokenFile: "token" },
      2,
      "Cannot choose credentials: give one of --password-file, --password-stdin and --token-file",
    ],
    [
      { passwordStdin: true, tokenFile: "token" },
      2,
      "Cannot choose credentials: give one of --password-file, --password-stdin and --token-file",
    ],
    [{ passwordFile: "none" }, 4, 'Cannot read "none" of --password-file: there is no such file or directory'],
    [{ tokenFile: "empty" }, 4, 'Cannot use "empty" of --token-file: it is empty'],
    [{ tokenFile: "lines" }, 4, "Cannot use the token of --token-file: it has white space or other characters"],
    [{ passwordStdin: true }, 2, "Cannot read a password: standard input is empty"],
  ])("%j", async (flags, exit, message) => {
    await using at = await place();
    await writeFile(join(at.path, "empty"), " \n");
    await writeFile(join(at.path, "lines"), "one\ntwo\n");
    await expect(at.choose(flags)).rejects.toMatchObject({
      exit,
      message: expect.stringContaining(message) as string,
    });
  });

  test("a password of a terminal, which would show it", async () => {
    const terminal = heardTerminal({ isTerminal: { stdin: true, stdout: true, stderr: true } });
    await expect(flaggedCredentials({ passwordStdin: true }, terminal)).rejects.toMatchObject({
      exit: 2,
      message: "Cannot read a password: standard input is a terminal; pipe it in",
    });
  });

  test("a password that is too long, without its content", async () => {
    const terminal = heardTerminal({ input: "x".repeat(65_537) });
    await expect(flaggedCredentials({ passwordStdin: true }, terminal)).rejects.toMatchObject({
      message: "Cannot read a password: it is over 65536 bytes",
    });
  });

  test("a token of the environment with a line break", async () => {
    await using at = await place();
    await expect(at.choose({}, { environment: { WEIR_TOKEN: "a\nb" } })).rejects.toMatchObject({
      exit: 4,
      message: expect.not.stringContaining("a\nb") as string,
    });
  });
});

describe("credentials over http", () => {
  test.each(["http://10.0.0.1:8080", "http://weir.example.com", "http://127.0.0.1.example.com"])(
    "to %s are refused with exit code 2",
    async (address) => {
      await using at = await place();
      const gateway = namedGateway(address, "a test");
      const message = `Cannot send credentials to ${address}: without TLS anybody on the way can read them; use https, or say --insecure-http`;
      await expect(at.choose({ tokenFile: "token" }, {}, gateway)).rejects.toMatchObject({ exit: 2, message });
      expect(await at.choose({ tokenFile: "token", insecureHttp: true }, {}, gateway)).toEqual(
        bearer("token-of-a-file"),
      );
      // Without credentials nothing is lost.
      expect(await at.choose({}, {}, gateway)).toBeUndefined();
    },
  );

  test.each(["http://localhost:8080", "http://[::1]:8080", "http://127.9.9.9", "https://weir.example.com"])(
    "are no matter at %s",
    (address) => {
      expect(() => checkTransport(address, {})).not.toThrow();
    },
  );
});

test("an input that does not come ends with the signal", async () => {
  const abort = new AbortController();
  const never = new (await import("node:stream")).PassThrough();
  const reading = flaggedCredentials({ passwordStdin: true }, heardTerminal({ input: never, signal: abort.signal }));
  abort.abort();
  await expect(reading).rejects.toThrow("Cannot read a password");
});
