import {
  chmod,
  chown,
  lchown,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { copyAsDeployed } from "../../../../../../runtime/adapters/machine/local/folders/copy-as-deployed.ts";
import { copyFolder } from "../../../../../../runtime/adapters/machine/local/folders/copy-folder.ts";
import { folderFaultOf } from "../../../../../../runtime/adapters/machine/local/folders/folder-fault.ts";
import { sealSnapshot } from "../../../../../../runtime/adapters/machine/local/folders/seal-snapshot.ts";
import {
  Snapshots,
  type SnapshotsParts,
  type SnapshotWork,
} from "../../../../../../runtime/adapters/machine/local/folders/snapshots.ts";
import { folderImage, folderTag, folderTagIn } from "../../../../../../runtime/api/folders/folder-content.ts";
import { folderContent } from "../../../../../../runtime/cli/build/hash-context.ts";
import { readContext } from "../../../../../../runtime/cli/build/read-context.ts";
import { isSnapshotName } from "../../../../../../runtime/core/folders/snapshot-name.ts";
import { StartRefused } from "../../../../../../runtime/core/replicas/start-refused.ts";
import { eventually } from "../../../../../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../../../../../support/temp-directory.ts";

const hello = { namespace: "functions", name: "hello" };
const isRoot = process.getuid?.() === 0;
const failure = { reason: "PrepareFailed", message: "no" };

let place: TempDirectory;
/** What a function is run from; it has the data directory in it, as a project has. */
let folder: string;
let data: string;
let directory: string;

beforeEach(async () => {
  place = await tempDirectory("snapshots");
  folder = join(place.path, "project");
  data = join(folder, "data");
  directory = join(data, "snapshots");
  await mkdir(data, { recursive: true });
  await write("app.js", "one");
});
afterEach(() => place.remove());

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(folder, path, ".."), { recursive: true });
  await writeFile(join(folder, path), text);
}

function open(prepare: SnapshotsParts["prepare"] = () => Promise.resolve(undefined)): Promise<Snapshots> {
  return Snapshots.open({ directory, dataDirectory: data, fault: folderFaultOf(data), prepare });
}

const request = (revision: string, prepare: readonly string[] = [], ref = hello) => ({
  ...ref,
  source: { path: folder, prepare, revision },
  image: "hello",
  user: undefined,
});

/** Of an opened file: neither the bits of a file's kind, nor those of set-user-id. */
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
const snapshotsThere = async (): Promise<string[]> => (await readdir(directory)).filter(isSnapshotName);
const textOf = (snapshot: string): Promise<string> => readFile(join(snapshot, "app.js"), "utf8");

describe("a copy", () => {
  test("has directories 0755, files that nobody may write, executables and links, less what is left out", async () => {
    await write("bin/server", "#!/bin/sh");
    await chmod(join(folder, "bin/server"), 0o4700);
    await chmod(join(folder, "app.js"), 0o600);
    await symlink("bin/server", join(folder, "run"));
    await mkdir(join(folder, "empty"), { mode: 0o700 });
    await write(".git/HEAD", "ref");
    await write("sub/.git", "gitdir");
    await write(".weir/credentials/password", "secret");
    await write("data/secret", "secret");
    await write("logs/a.log", "log");
    await write("logs/keep.txt", "kept");
    await write(".dockerignore", "logs\n!logs/keep.txt\n");
    const snapshot = await (await open()).use(request("1")).taken;

    expect((await readdir(snapshot, { recursive: true })).toSorted()).toEqual([
      ".dockerignore",
      "app.js",
      "bin",
      "bin/server",
      "empty",
      "logs",
      "logs/keep.txt",
      "run",
      "sub",
    ]);
    for (const path of ["", "bin", "empty", "logs"]) expect(await modeOf(join(snapshot, path))).toBe(0o755);
    expect(await modeOf(join(snapshot, "app.js"))).toBe(0o444);
    expect((await stat(join(snapshot, "bin/server"))).mode & 0o7777).toBe(0o555);
    expect(await readlink(join(snapshot, "run"))).toBe("bin/server");
    expect(await textOf(snapshot)).toBe("one");
    expect((await readdir(directory)).filter((name) => !isSnapshotName(name))).toEqual(["revisions"]);
  });

  /** The image that the command deploys for the folder as it is. */
  async function deployedImage(): Promise<string> {
    const context = { directory: folder, use: "snapshot", project: folder } as const;
    return folderImage("hello", await folderContent(folder, await readContext(context, "Cannot"), "Cannot"));
  }

  test("has the content that its image names, as the command and the copy understand it", async () => {
    await rm(data, { recursive: true });
    data = join(folder, ".weir");
    directory = join(data, "snapshots");
    await mkdir(data);
    await write("bin/server", "#!/bin/sh");
    await chmod(join(folder, "bin/server"), 0o700);
    await symlink("bin/server", join(folder, "run"));
    await mkdir(join(folder, "empty"));
    await write(".git/HEAD", "ref");
    await write("logs/a.log", "log");
    await write("logs/keep.txt", "kept");
    await write(".dockerignore", "logs\n!logs/keep.txt\n");
    const tag = folderTagIn(await deployedImage());
    const to = join(place.path, "copy");
    const options = { from: folder, to, dataDirectory: data, writer: undefined, signal: new AbortController().signal };
    expect(tag).toBe(folderTag(await copyFolder(options)));
  });

  test("of a file that is being saved again waits until it is whole", async () => {
    const { signal } = new AbortController();
    const optionsTo = (to: string) => ({ from: folder, to, dataDirectory: data, writer: undefined, signal });
    const tag = folderTag(await copyFolder(optionsTo(join(place.path, "before"))));
    await write("app.js", "");
    const to = join(place.path, "copy");
    const copying = copyAsDeployed(optionsTo(to), tag, 60_000);
    const copies = new Set<bigint>();
    const isCopiedAgain = async () => copies.add((await stat(to, { bigint: true })).birthtimeNs).size > 1;
    await eventually(isCopiedAgain, { what: "another copy", every: 1 });
    await write("app.js", "one");
    await copying;
    expect(await textOf(to)).toBe("one");
  });

  test("of what has changed since is what there is", async () => {
    const image = await deployedImage();
    await write("app.js", "two");
    const snapshots = await open();
    expect(await textOf(await snapshots.use({ ...request("1"), image }).taken)).toBe("two");
    // And is given up with the last of its users.
    const { taken, leave } = snapshots.use({ ...request("2"), image });
    leave();
    await expect(taken).rejects.toThrow(/abort/);
  });

  test.each<[what: string, make: () => Promise<unknown>, state: RegExp]>([
    ["is not there", () => rm(folder, { recursive: true }), /^folder ".*" does not exist$/],
    ["is a file", () => rm(folder, { recursive: true }).then(() => writeFile(folder, "")), /is not a folder$/],
    ["has a link out of it", () => symlink("/etc/passwd", join(folder, "out")), /^its link "out" leads out of it, /],
  ])("of a folder that %s is refused, and leaves nothing", async (_what, make, state) => {
    const snapshots = await Snapshots.open({
      directory: join(place.path, "other"),
      dataDirectory: data,
      fault: folderFaultOf(data),
      prepare: () => Promise.resolve(undefined),
    });
    await make();
    const error: unknown = await snapshots.use(request("1")).taken.catch((err: unknown) => err);
    expect(error).toBeInstanceOf(StartRefused);
    const { reason, message } = error as StartRefused;
    const prefix = `Cannot run the function from folder "${folder}": `;
    expect([reason, message.slice(0, prefix.length)]).toEqual(["FolderUnusable", prefix]);
    expect(message.slice(prefix.length)).toMatch(state);
    expect(await readdir(join(place.path, "other"))).toEqual(["revisions"]);
  });

  test("folderFault names the real path of a link, and refuses the data directory", async () => {
    const alias = join(place.path, "alias");
    await symlink(folder, alias);
    const fault = folderFaultOf(data);
    expect(await fault(folder)).toBeUndefined();
    expect(await fault(alias)).toBe(
      `"${alias}" is not the real path of a folder, which has no links in it: use "${folder}"`,
    );
    expect(await fault(`${folder}/`)).toContain(`use "${folder}"`);
    for (const path of [data, directory]) {
      await mkdir(path, { recursive: true });
      expect(await fault(path)).toBe(`"${path}" belongs to the data of this Weir`);
    }
  });
});

describe("revisions", () => {
  test("one runs the same content whatever becomes of the folder, also after a restart; the next takes what is there", async () => {
    const first = await open();
    const one = await first.use(request("1")).taken;
    await write("app.js", "two");
    expect(await first.use(request("1")).taken).toBe(one);
    await rm(join(folder, "app.js"));
    const second = await open();
    expect(await second.use(request("1")).taken).toBe(one);
    expect(await textOf(one)).toBe("one");

    await write("app.js", "two");
    const two = await second.use(request("2")).taken;
    expect(await textOf(two)).toBe("two");
    await write("app.js", "one");
    expect(await second.use(request("3")).taken).toBe(one);
    expect((await snapshotsThere()).length).toBe(2);
  });

  test("functions share a copy, but not one that was prepared", async () => {
    const snapshots = await open();
    const other = { ...hello, name: "other" };
    const taken = (revision: string, prepare: readonly string[], ref = hello) =>
      snapshots.use(request(revision, prepare, ref)).taken;
    const [a, b] = await Promise.all([taken("1", []), taken("1", [], other)]);
    expect(a).toBe(b);
    expect(await taken("2", ["x"])).not.toBe(await taken("2", ["x"], other));
  });

  test("what nothing needs is removed, but for the three used last", async () => {
    const snapshots = await open();
    const taken: string[] = [];
    for (let number = 1; number <= 6; number += 1) {
      await write("app.js", `content ${number}`);
      const use = snapshots.use(request(`${number}`));
      taken.push(await use.taken);
      if (number === 6) break;
      const now = Date.now();
      await eventually(() => Date.now() > now, { what: "the next millisecond", every: 1 });
      use.leave();
    }
    const expected = taken.slice(2).toSorted();
    await eventually(async () => (await snapshotsThere()).length === expected.length, { what: "old ones to be gone" });
    expect((await snapshotsThere()).map((name) => join(directory, name)).toSorted()).toEqual(expected);
    await snapshots.close();
    expect((await readdir(directory)).filter((name) => name.startsWith("gone-"))).toEqual([]);
  });

  test("a forgotten function has no record", async () => {
    const first = await open();
    await first.use(request("1")).taken;
    expect((await open()).functions()).toEqual([hello]);
    const second = await open();
    await second.forget(hello);
    expect(second.functions()).toEqual([]);
    expect((await open()).functions()).toEqual([]);
  });
});

describe("preparation", () => {
  test("runs once for all replicas and deployments of one content, which is sealed afterwards", async () => {
    const done: SnapshotWork[] = [];
    const prepare = async (work: SnapshotWork): Promise<undefined> => {
      done.push(work);
      await writeFile(join(work.directory, "app.js"), "made", { flag: "a" });
      await mkdir(join(work.directory, "made"), { mode: 0o500 });
      await writeFile(join(work.directory, "program"), "", { mode: 0o777 });
    };
    const snapshots = await open(prepare);
    const uses = [snapshots.use(request("1", ["make"])), snapshots.use(request("1", ["make"]))];
    const [one, again] = await Promise.all(uses.map(({ taken }) => taken));
    expect(again).toBe(one);
    for (const use of uses) use.leave();
    expect(await snapshots.use(request("2", ["make"])).taken).toBe(one);
    expect(await (await open(prepare)).use(request("3", ["make"])).taken).toBe(one);
    expect(done.map(({ commands, name, namespace }) => ({ commands, name, namespace }))).toEqual([
      { ...hello, commands: ["make"] },
    ]);
    const paths = ["", "made", "app.js", "program"].map((path) => join(one ?? "", path));
    expect(await Promise.all(paths.map(modeOf))).toEqual([0o755, 0o755, 0o444, 0o555]);
    expect(await textOf(one ?? "")).toBe("onemade");
  });

  test("that failed leaves nothing, and is not repeated before the next deployment", async () => {
    let result: typeof failure | undefined = failure;
    let runs = 0;
    const snapshots = await open(async ({ directory: made }) => {
      runs += 1;
      await writeFile(join(made, "rubbish"), "");
      return result;
    });
    const use = snapshots.use(request("1", ["make"]));
    await expect(use.taken).rejects.toThrow(new StartRefused(failure));
    use.leave();
    expect(await readdir(directory)).toEqual(["revisions"]);
    expect(() => snapshots.check(hello, request("1", ["make"]).source)).toThrow(new StartRefused(failure));
    expect(() => snapshots.check({ ...hello, name: "other" }, request("1").source)).not.toThrow();

    result = undefined;
    snapshots.check(hello, request("2", ["make"]).source);
    expect(await readdir(await snapshots.use(request("2", ["make"])).taken)).toEqual(["app.js", "rubbish"]);
    expect(runs).toBe(2);
  });

  const users: readonly { readonly as: string; readonly user: number | undefined }[] = [
    { as: "as this user", user: undefined },
    ...(isRoot ? [{ as: "as a user of its own", user: 54_321 }] : []),
  ];
  test.each(users)(
    "installs the same dependencies once $as, and a build sees them below new sources",
    async ({ user }) => {
      const ran: (readonly string[])[] = [];
      const prepare = async ({ commands, directory: at }: SnapshotWork): Promise<undefined> => {
        ran.push(commands);
        const own = async (path: string): Promise<void> => {
          if (user !== undefined) await lchown(path, user, user);
        };
        if (commands[0] === "build") {
          await writeFile(join(at, "app.js"), `built ${await textOf(at)}`);
          return;
        }
        for (const path of ["lib", "lib/bin", "src", "src/made"]) {
          await mkdir(join(at, path), { recursive: true });
          await own(join(at, path));
        }
        await writeFile(join(at, "lib/code"), "code");
        await writeFile(join(at, "lib/bin/run"), `#!${at}/lib/python`, { mode: 0o755 });
        await symlink("code", join(at, "lib/alias"));
        await writeFile(join(at, "src/made/cache"), "cache");
        for (const path of ["lib/code", "lib/bin/run", "lib/alias", "src/made/cache"]) await own(join(at, path));
      };
      const commands = ["pip install -r requirements.txt --quiet", "build"];
      await write("requirements.txt", "flask==3.1.0\n");
      await write("src/main.py", "");
      const take = async (snapshots: Snapshots, revision: string, steps = commands): Promise<string> =>
        snapshots.use({ ...request(revision, steps), user }).taken;
      const first = await open(prepare);
      await take(first, "1");

      await write("app.js", "two");
      await rm(join(folder, "src"), { recursive: true });
      const two = await take(await open(prepare), "2");
      expect(ran).toEqual([[commands[0]], [commands[1]], [commands[1]]]);
      expect(await textOf(two)).toBe("built two");
      expect(await readFile(join(two, "lib/alias"), "utf8")).toBe("code");
      expect(await readFile(join(two, "lib/bin/run"), "utf8")).toBe(`#!${two}/lib/python`);
      expect(await modeOf(join(two, "lib/bin/run"))).toBe(0o555);
      expect(await modeOf(join(two, "lib/code"))).toBe(0o444);
      expect((await stat(join(two, "lib/code"))).uid).toBe(process.getuid?.());
      expect((await readdir(two, { recursive: true })).filter((path) => path.startsWith("src"))).toEqual([
        "src",
        "src/made",
        "src/made/cache",
      ]);

      await write("lib/code", "own code");
      await write("app.js", "three");
      const three = await take(first, "3", commands.slice(0, 1));
      expect([await readFile(join(three, "lib/code"), "utf8"), await textOf(three)]).toEqual(["own code", "three"]);
      expect(ran).toHaveLength(3);

      await write("requirements.txt", "flask==3.1.1\n");
      await rm(join(folder, "lib"), { recursive: true });
      await take(first, "4");
      expect(ran.slice(3)).toEqual([[commands[0]], [commands[1]]]);
      await first.forget(hello);
      expect(await readdir(join(directory, "dependencies"))).toEqual([]);
    },
  );

  test.runIf(isRoot)("gives no file of somebody else to the user, and keeps none, by a hard link to it", async () => {
    const foreign = join(place.path, "foreign");
    await writeFile(foreign, "secret", { mode: 0o600 });
    const ran: string[] = [];
    const snapshots = await open(async ({ commands: [command = ""], directory: at }) => {
      ran.push(command);
      if (command !== "build") await link(foreign, join(at, "linked"));
    });
    const commands = ["pip install -r requirements.txt", "build"];
    await write("requirements.txt", "flask==3.1.0\n");
    await snapshots.use({ ...request("1", commands), user: 54_321 }).taken;
    const { mode, uid } = await stat(foreign);
    expect([uid, mode & 0o777]).toEqual([0, 0o600]);
    await write("app.js", "two");
    await snapshots.use({ ...request("2", commands), user: 54_321 }).taken;
    expect(ran).toEqual([commands[0], "build", commands[0], "build"]);
  });

  test("that a killed process began is done again from the folder", async () => {
    const never = await open(() => new Promise(() => {}));
    void never.use(request("1", ["make"])).taken.catch(() => {});
    await eventually(async () => (await snapshotsThere()).length === 1, { what: "a copy" });
    await mkdir(join(directory, "new-abcdef", "content"), { recursive: true });
    await mkdir(join(directory, "gone-abcdef"));
    await writeFile(join(directory, "revisions", "torn.functions"), '{"revision":');
    await writeFile(join(directory, "revisions", "hello.functions.new"), "");
    await write("app.js", "two");

    const next = await open();
    expect(await readdir(directory)).toEqual(["revisions"]);
    expect(await readdir(join(directory, "revisions"))).toEqual(["hello.functions"]);
    expect(await textOf(await next.use(request("1", ["make"])).taken)).toBe("two");
  });

  test("is given up once no replica waits for it, and can begin again", async () => {
    const began = Promise.withResolvers<AbortSignal>();
    let isFirst = true;
    const snapshots = await open(({ signal }) => {
      if (!isFirst) return Promise.resolve(undefined);
      isFirst = false;
      began.resolve(signal);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve(failure)));
    });
    const [one, two] = [snapshots.use(request("1", ["make"])), snapshots.use(request("1", ["make"]))];
    const signal = await began.promise;
    one.leave();
    one.leave();
    expect(signal.aborted).toBe(false);
    two.leave();
    expect(signal.aborted).toBe(true);
    await expect(two.taken).rejects.toThrow("no");
    snapshots.check(hello, request("1", ["make"]).source);
    expect(await textOf(await snapshots.use(request("1", ["make"])).taken)).toBe("one");
  });

  test("of two deployments with equal content, the second waits for the end of the first", async () => {
    const release = Promise.withResolvers<undefined>();
    let runs = 0;
    const snapshots = await open(() => {
      runs += 1;
      return release.promise;
    });
    const [one, two] = [snapshots.use(request("1", ["make"])), snapshots.use(request("2", ["make"]))];
    await eventually(() => runs === 1, { what: "the first" });
    release.resolve(undefined);
    expect(await two.taken).toBe(await one.taken);
    expect(runs).toBe(1);
  });
});

describe.runIf(isRoot)("sealSnapshot()", () => {
  const user = 65_432;

  test("takes everything from the user, and changes nothing that is somebody else's", async () => {
    const snapshot = join(place.path, "snapshot");
    const mine = join(place.path, "mine");
    await mkdir(join(snapshot, "sub"), { recursive: true });
    await writeFile(mine, "private", { mode: 0o600 });
    await writeFile(join(snapshot, "sub", "file"), "");
    await link(mine, join(snapshot, "hard"));
    await symlink(mine, join(snapshot, "soft"));
    await symlink(place.path, join(snapshot, "directory"));
    for (const path of ["", "sub", "sub/file"]) await chown(join(snapshot, path), user, user);
    for (const path of ["soft", "directory"]) await lchown(join(snapshot, path), user, user);
    await chmod(join(snapshot, "sub"), 0o777);
    await chmod(join(snapshot, "sub", "file"), 0o6777);
    await sealSnapshot(snapshot, user);

    expect((await stat(join(snapshot, "sub"))).mode & 0o7777).toBe(0o755);
    expect((await stat(join(snapshot, "sub", "file"))).mode & 0o7777).toBe(0o555);
    expect([(await stat(snapshot)).uid, (await stat(join(snapshot, "sub", "file"))).uid]).toEqual([0, 0]);
    expect(await modeOf(mine)).toBe(0o600);
    expect(await modeOf(place.path)).toBe(0o700);
  });
});
