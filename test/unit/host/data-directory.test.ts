import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { dataLayout, openDataDirectory, writeNote } from "../../../runtime/host/data-directory.ts";
import { holdLock } from "../../../runtime/process/hold-lock.ts";
import { processStart } from "../../../runtime/process/process-start.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";

let place: TempDirectory;
const children: ChildProcess[] = [];

async function otherProcess(): Promise<number> {
  const child = spawn(process.execPath, ["-e", "process.stdout.write('up'); setInterval(() => {}, 1000)"]);
  children.push(child);
  await once(child.stdout, "data");
  return child.pid ?? 0;
}

beforeEach(async () => {
  place = await tempDirectory("data");
});

afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await place.remove();
});

describe("openDataDirectory", () => {
  test("creates it for its owner alone, and releases it", async () => {
    const path = join(place.path, "deep", "data");
    const first = await openDataDirectory(path);
    expect(first.layout).toEqual(dataLayout(path));
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    await first.close();
    const second = await openDataDirectory(path);
    await second.close();
    expect(await readdir(path)).toEqual([]);
  });

  test("has no address once it is closed; a note is its owner's alone and replaces the one before", async () => {
    const { layout, close } = await openDataDirectory(place.path);
    await writeFile(layout.address, "http://127.0.0.1:1\n", { mode: 0o644 });
    await writeNote(layout.address, "http://127.0.0.1:2");
    expect(await readFile(layout.address, "utf8")).toBe("http://127.0.0.1:2\n");
    expect((await stat(layout.address)).mode & 0o777).toBe(0o600);
    await close();
    expect(await readdir(place.path)).toEqual([]);
  });

  test("says who uses it", async () => {
    const first = await openDataDirectory(place.path);
    await expect(openDataDirectory(place.path)).rejects.toThrow(
      `Cannot use data directory "${place.path}": another Weir (process ${process.pid}) uses it; ` +
        "stop that one or choose another with --data",
    );
    await first.close();
  });

  test("says that it is not a directory", async () => {
    const file = join(place.path, "file");
    await writeFile(file, "");
    await expect(openDataDirectory(file)).rejects.toThrow(
      "it is a file, or lies below one; choose another with --data",
    );
    await expect(openDataDirectory(join(file, "data"))).rejects.toThrow("it is a file, or lies below one");
  });

  // Root may write everywhere.
  test.skipIf(process.getuid?.() === 0)("says that this user may not write there", async () => {
    await chmod(place.path, 0o500);
    await expect(openDataDirectory(join(place.path, "data"))).rejects.toThrow("this user may not write there");
    await chmod(place.path, 0o700);
  });

  test.runIf(process.platform === "linux")("gives up where no directory can be made", async () => {
    await expect(openDataDirectory("/proc/weir/data")).rejects.toThrow(/^Cannot use data directory .*--data$/);
  });

  test("gives the reason of any other error", async () => {
    const path = join(place.path, "x".repeat(300));
    await expect(openDataDirectory(path)).rejects.toThrow(
      /^Cannot use data directory ".*": ENAMETOOLONG.*; choose another with --data$/,
    );
  });
});

describe("holdLock", () => {
  test("respects a living process and takes over from a dead one", async () => {
    const file = join(place.path, "lock");
    const pid = await otherProcess();
    await writeFile(file, JSON.stringify({ pid, start: await processStart(pid) }));
    expect(await holdLock(file)).toEqual({ heldBy: pid });

    const [child] = children.splice(0);
    child?.kill("SIGKILL");
    if (child !== undefined) await once(child, "exit");
    const taken = await holdLock(file);
    if ("heldBy" in taken) throw new Error("not taken over");
    await taken.release();
    expect(await readdir(place.path)).toEqual([]);
  });

  test("is not fooled by another process with the same number", async () => {
    const file = join(place.path, "lock");
    await writeFile(file, JSON.stringify({ pid: await otherProcess(), start: "earlier" }));
    expect(await holdLock(file)).toHaveProperty("release");
  });

  test.each(["", "{", "null", '{"pid":"x"}'])("takes over an unreadable lock: %j", async (text) => {
    const file = join(place.path, "lock");
    await writeFile(file, text);
    expect(await holdLock(file)).toHaveProperty("release");
  });

  test("goes to one of many that see the same stale lock", async () => {
    const file = join(place.path, "lock");
    await writeFile(file, "stale");
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => holdLock(file)));
    expect(outcomes.filter((outcome) => "release" in outcome)).toHaveLength(1);
    expect(await readdir(place.path)).toEqual(["lock"]);
  });

  test("leaves the lock of a successor alone", async () => {
    const file = join(place.path, "lock");
    const taken = await holdLock(file);
    await writeFile(file, "successor");
    if ("release" in taken) await taken.release();
    expect(await readdir(place.path)).toEqual(["lock"]);
  });
});
