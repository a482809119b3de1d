import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { changeFile, readIfThere, whileLocked } from "../../../../runtime/cli/gateways/locked-file.ts";
import { eventually } from "../../../support/eventually.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

async function place() {
  const { path, remove } = await tempDirectory("locked-file");
  const directory = join(path, "weir");
  await mkdir(directory, { mode: 0o700 });
  const file = join(directory, "file.yaml");
  return { directory, file, lock: `${file}.lock`, [Symbol.asyncDispose]: remove };
}

const add = (word: string) => (text: string) => `${text}${word}\n`;
/** No process has it: it is over the highest number of Linux. */
const deadProcess = 2 ** 22 + 1;
const long = new Date(Date.now() - 120_000);

test("a file is made with its directory, for its owner alone, and nothing is left beside it", async () => {
  await using directory = await tempDirectory("locked-file");
  const file = join(directory.path, "config", "weir", "file.yaml");
  await changeFile(file, add("a"));
  await changeFile(file, add("b"));
  expect(await readFile(file, "utf8")).toBe("a\nb\n");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(directory.path, "config", "weir"))).mode & 0o777).toBe(0o700);
  expect(await readdir(join(directory.path, "config", "weir"))).toEqual(["file.yaml"]);
});

test("a directory and file that others could read are closed to them", async () => {
  await using at = await place();
  await writeFile(at.file, "a\n");
  await chmod(at.file, 0o644);
  await chmod(at.directory, 0o755);
  await changeFile(at.file, add("b"));
  expect((await stat(at.file)).mode & 0o777).toBe(0o600);
  expect((await stat(at.directory)).mode & 0o777).toBe(0o700);
});

test("changes at the same time follow one another", async () => {
  await using at = await place();
  const words = Array.from({ length: 20 }, (_, index) => `word-${index}`);
  await Promise.all(words.map((word) => changeFile(at.file, add(word))));
  expect((await readFile(at.file, "utf8")).trim().split("\n").toSorted()).toEqual(words.toSorted());
  expect(await readdir(at.directory)).toEqual(["file.yaml"]);
});

test("an error of the change leaves the file as it was, and no lock", async () => {
  await using at = await place();
  await changeFile(at.file, add("a"));
  await expect(
    changeFile(at.file, () => {
      throw new RangeError("no");
    }),
  ).rejects.toThrow(RangeError);
  expect(await readFile(at.file, "utf8")).toBe("a\n");
  expect(await readdir(at.directory)).toEqual(["file.yaml"]);
});

describe("a lock", () => {
  test("of a process that is gone is taken over, by one of many at a time", async () => {
    await using at = await place();
    await writeFile(at.lock, `${deadProcess} ${hostname()} 000000000000`);
    await Promise.all(["a", "b", "c", "d"].map((word) => changeFile(at.file, add(word))));
    expect((await readFile(at.file, "utf8")).trim().split("\n").toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(await readdir(at.directory)).toEqual(["file.yaml"]);
  });

  test("is taken over although the process that did so was killed, too", async () => {
    await using at = await place();
    await writeFile(at.lock, `${deadProcess} ${hostname()} 000000000000`);
    await writeFile(`${at.lock}.guard`, `${deadProcess} ${hostname()} 111111111111`);
    await changeFile(at.file, add("a"));
    expect(await readdir(at.directory)).toEqual(["file.yaml"]);
  });

  test.each([
    ["a process that lives", `${process.pid} ${hostname()} 000000000000`],
    ["a process of another machine", `${deadProcess} elsewhere.example.com 000000000000`],
  ])("of %s is waited for", async (_, content) => {
    await using at = await place();
    await writeFile(at.lock, content);
    let done = false;
    const change = changeFile(at.file, add("a")).then(() => (done = true));
    // It waits, so what it waits with is there.
    await eventually(async () => (await readdir(at.directory)).some((name) => /\.lock\.[0-9a-f]{12}$/.test(name)), {
      what: "a process that waits",
    });
    expect(done).toBe(false);
    expect(await readFile(at.lock, "utf8")).toBe(content);
    await utimes(at.lock, long, long);
    await change;
    expect(await readFile(at.file, "utf8")).toBe("a\n");
  });
});

test("what killed processes left is removed when it is old, and nothing else", async () => {
  await using at = await place();
  const old = ["file.yaml.0123456789ab", "file.yaml.lock.0123456789ab", "file.yaml.lock.guard.0123456789ab"];
  const others = ["file.yaml.bak", "file.yaml.0123", "other.yaml.0123456789ab", "file.yaml.ffffffffffff"];
  for (const name of [...old, ...others]) await writeFile(join(at.directory, name), "x");
  for (const name of [...old, ...others.slice(0, 3)]) await utimes(join(at.directory, name), long, long);
  await changeFile(at.file, add("a"));
  expect((await readdir(at.directory)).toSorted()).toEqual(["file.yaml", ...others].toSorted());
});

test("a place that cannot be written is exit code 2 with its name", async () => {
  await using at = await place();
  await writeFile(at.file, "");
  const inside = join(at.file, "weir", "file.yaml");
  await expect(changeFile(inside, add("a"))).rejects.toMatchObject({
    exit: 2,
    message: expect.stringMatching(/^Cannot change ".*file\.yaml": E[A-Z]+: /) as string,
  });
  await expect(readIfThere(at.directory)).rejects.toMatchObject({
    exit: 2,
    message: expect.stringContaining(`Cannot read "${at.directory}": it is a directory`) as string,
  });
  expect(await readIfThere(join(at.directory, "none"))).toBe("");
});

describe("work under a lock", () => {
  test("is done by one at a time, and leaves no lock, also when it fails", async () => {
    await using at = await place();
    let [inside, most] = [0, 0];
    const work = async (): Promise<number> => {
      inside += 1;
      most = Math.max(most, inside);
      await changeFile(at.file, add("a"));
      inside -= 1;
      return inside;
    };
    const ends = await Promise.all([1, 2, 3].map(() => whileLocked(`${at.file}.work`, work)));
    expect([ends, most]).toEqual([[0, 0, 0], 1]);
    await expect(whileLocked(`${at.file}.work`, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await readdir(at.directory)).toEqual(["file.yaml"]);
  });

  test("keeps its own errors, also those of the system", async () => {
    await using at = await place();
    await expect(whileLocked(at.file, () => readFile(join(at.directory, "none")))).rejects.toMatchObject({
      code: "ENOENT",
    });
    expect(await readdir(at.directory)).toEqual([]);
  });

  test("removes what killed processes left that waited for it", async () => {
    await using at = await place();
    const left = `${at.lock}.0123456789ab`;
    await writeFile(left, "x");
    await utimes(left, long, long);
    expect(await whileLocked(at.file, () => readdir(at.directory))).toEqual(["file.yaml.lock"]);
  });

  test("that takes longer than an abandoned lock stays keeps its lock fresh, which is not taken over", async () => {
    await using at = await place();
    const abandonedAge = 60;
    let now = Date.now();
    const times = { abandonedAge, now: () => now };
    const lockTime = async (): Promise<number> => Math.round((await stat(at.lock)).mtimeMs);
    const order: string[] = [];
    const { second } = await whileLocked(
      at.file,
      async () => {
        const waiting = whileLocked(at.file, async () => void order.push("second"), times);
        // Never so much at once that the lock is old before its holder can renew it.
        for (let step = 0; step < 5; step += 1) {
          now += abandonedAge - 10;
          await eventually(async () => (await lockTime()) === now, { what: "a renewed lock", every: 1 });
        }
        order.push("first");
        return { second: waiting };
      },
      times,
    );
    await second;
    expect(order).toEqual(["first", "second"]);
    expect(await readdir(at.directory)).toEqual([]);
  });

  test("takes an abandoned lock over, whose holder does not remove the new one", async () => {
    await using at = await place();
    const resumed = Promise.withResolvers<void>();
    // Its process was suspended: it renews nothing.
    const suspended = whileLocked(at.file, () => resumed.promise, { abandonedAge: 2 ** 30 });
    const before = await eventually(() => readFile(at.lock, "utf8"), { what: "the lock" });
    const later = Date.now() + 60_001;
    const after = await whileLocked(
      at.file,
      async () => {
        const content = await readFile(at.lock, "utf8");
        resumed.resolve();
        await suspended;
        expect(await readFile(at.lock, "utf8")).toBe(content);
        return content;
      },
      { now: () => later },
    );
    expect(after).not.toBe(before);
    expect(await readdir(at.directory)).toEqual([]);
  });

  test.each([
    ["this machine", `${process.pid} ${hostname()} 000000000000`, `process ${process.pid}`],
    ["another machine", "12 elsewhere.example.com 000000000000", "process 12 of elsewhere.example.com"],
  ])("says which process of %s it waited for, and how long", async (_, content, holder) => {
    await using at = await place();
    await writeFile(at.lock, content);
    await expect(whileLocked(at.file, async () => {}, { wait: 50 })).rejects.toMatchObject({
      exit: 1,
      message: `Cannot change "${at.file}" within 50ms: ${holder} holds its lock "${at.lock}"; end that process, or wait for it`,
    });
    expect(await readdir(at.directory)).toEqual(["file.yaml.lock"]);
  });

  test("where no lock can be is exit code 2 with the name", async () => {
    await using at = await place();
    await writeFile(at.file, "");
    const inside = join(at.file, "weir", "file.yaml");
    await expect(whileLocked(inside, async () => {})).rejects.toMatchObject({
      exit: 2,
      message: expect.stringMatching(/^Cannot change ".*file\.yaml": E[A-Z]+: /) as string,
    });
  });
});
