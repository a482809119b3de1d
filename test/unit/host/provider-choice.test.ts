import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { chooseProvider, decideProvider, readProviderChoice } from "../../../runtime/host/provider-choice.ts";
import { writeNote } from "../../../runtime/host/data-directory.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";

describe("decideProvider", () => {
  const unavailable = 'Cannot reach the container engine at "/run/none.sock": there is none';
  const first = { wanted: "auto", noted: undefined, functions: 0, engine: { unavailable } } as const;

  test("auto chooses local at the first start without an engine, says why, and records it", () => {
    expect(decideProvider(first)).toEqual({ kind: "use", provider: "local", note: true, engineTrouble: unavailable });
  });

  test.each(["docker_socket", "DOCKER_HOST"] as const)(
    "auto does not start when the engine in %s is missing",
    (name) => {
      expect(decideProvider({ ...first, engine: { unavailable, namedBy: name } })).toEqual({
        kind: "refuse",
        because: `${unavailable}; ${name} names that engine: to start without it, use --provider local`,
      });
    },
  );

  test("a missing engine that is set does not matter when local was chosen", () => {
    const engine = { unavailable, namedBy: "DOCKER_HOST" } as const;
    const local = { kind: "use", provider: "local" };
    expect(decideProvider({ ...first, engine, wanted: "local" })).toMatchObject(local);
    expect(decideProvider({ ...first, engine, noted: "local" })).toMatchObject(local);
  });

  test("auto keeps the recorded provider", () => {
    expect(decideProvider({ ...first, noted: "local", engine: {}, functions: 3 })).toEqual({
      kind: "use",
      provider: "local",
      note: false,
    });
  });

  test("auto chooses containers when an engine responds", () => {
    expect(decideProvider({ ...first, engine: {} })).toEqual({ kind: "use", provider: "docker", note: true });
  });

  test("auto never falls back from a recorded docker", () => {
    expect(decideProvider({ ...first, noted: "docker" })).toEqual({
      kind: "use",
      provider: "docker",
      note: false,
    });
  });

  test("another provider is refused while there are functions, with the way to change", () => {
    expect(decideProvider({ ...first, wanted: "local", noted: "docker", functions: 2 })).toEqual({
      kind: "refuse",
      because:
        'Cannot use provider "local": 2 functions were deployed with provider "docker"; ' +
        "start with --provider docker, delete them, and start again; or choose another directory with --data",
    });
    expect(decideProvider({ ...first, wanted: "local", noted: "docker", functions: 0 })).toEqual({
      kind: "use",
      provider: "local",
      note: true,
    });
  });
});

describe("the record of the provider", () => {
  let place: TempDirectory;

  beforeEach(async () => {
    place = await tempDirectory("provider");
  });

  afterEach(() => place.remove());

  test("is read as it was written", async () => {
    const file = join(place.path, "provider");
    expect(await readProviderChoice(file)).toBeUndefined();
    await writeNote(file, "local");
    expect(await readProviderChoice(file)).toBe("local");
  });

  test("is not guessed", async () => {
    const file = join(place.path, "provider");
    await writeFile(file, "podman\n");
    await expect(readProviderChoice(file)).rejects.toThrow(
      `Cannot read the provider in "${file}": expected local or docker, got "podman"`,
    );
  });

  test("checks for an engine only where that decides", async () => {
    const file = join(place.path, "provider");
    const functions = async (): Promise<number> => 0;
    const refused = async (): Promise<never> => Promise.reject(new Error("DOCKER_HOST is of no use"));
    await expect(chooseProvider({ file, wanted: "auto", functions, engine: refused })).rejects.toThrow("DOCKER_HOST");
    const local = { provider: "local", engineTrouble: undefined };
    expect(await chooseProvider({ file, wanted: "local", functions, engine: refused })).toEqual(local);
    expect(await chooseProvider({ file, wanted: "auto", functions, engine: refused })).toEqual(local);
  });
});
