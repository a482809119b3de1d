import { spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test, type TestContext } from "vitest";

import { callHello, HelloProject, helloRuns, startDev, type RunningDev } from "../../support/cli-dev.ts";
import { cliCommand, openCliHome, type CliHome } from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { say } from "../../support/say.ts";
import { openSmallDisk } from "../../support/small-disk.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/** `weir dev` on a Weir that runs by itself, while something of that fails. */
let person: CliHome;
let project: HelloProject;
let data: string;
let port: number;

beforeEach<TestContext>(async () => {
  person = await openCliHome();
  const end = await person.run(["init", "hello", "--template", "node"]);
  expect(end).toMatchObject({ code: 0 });
  project = await HelloProject.open(join(person.home, "hello"));
  data = join(project.directory, ".weir");
  port = await freePort();
});
afterEach<TestContext>(() => person?.[Symbol.asyncDispose]());

const weirOfProject = (): Promise<WeirProcess> => startWeir({ data, flags: ["--port", String(port)] });
const startHere = (): RunningDev => startDev({ program: cliCommand, home: person.home, directory: project.directory });
const replies = (gateway: string, text: string): Promise<true> =>
  eventually(async () => (await callHello(gateway)) === `200 ${text}`, { what: `the reply "${text}"` });

test("a gateway that is killed and comes back gets what was saved meanwhile, and its logs are shown again", async () => {
  await using first = await weirOfProject();
  await using dev = startHere();
  await dev.says(helloRuns);
  await project.reply("before");
  await replies(first.url, "before");

  dev.forget();
  await first.kill();
  await project.reply("overtaken");
  await dev.says(/^hello {3}waiting: Cannot reach Weir at http:\S+: nothing listens there$/m);
  await project.reply("meanwhile");
  await first.close();
  await using second = await weirOfProject();
  expect(second.url).toBe(first.url);
  await replies(second.url, "meanwhile");
  await dev.says(helloRuns);
  await dev.says(/^hello \| [0-9a-f-]{36} POST \/ 200$/m);
  // Once for each save, however often it is tried.
  expect(dev.shown().match(/^hello {3}waiting: .*nothing listens there$/gm)?.length).toBeLessThanOrEqual(2);

  await project.reply("after");
  await replies(second.url, "after");
  dev.interrupt();
  expect(await dev.end).toBe(130);
  await second.stop();
});

test("a disk that is full when the folder is copied leaves what runs; the save is deployed when there is room", async (context) => {
  await using disk = await openSmallDisk(1024 * 1024);
  if (disk === undefined) {
    say("Skipped: a full disk under weir dev; this user may not mount a file system");
    context.skip("this user may not mount a file system");
    return;
  }
  const snapshots = join(data, "snapshots");
  await mkdir(snapshots, { recursive: true, mode: 0o700 });
  expect(spawnSync("mount", ["--bind", disk.path, snapshots]).status).toBe(0);
  try {
    await using weir = await weirOfProject();
    await using dev = startHere();
    await dev.says(helloRuns);
    await project.reply("before");
    await replies(weir.url, "before");

    dev.forget();
    disk.fill(0);
    await project.reply("without room");
    await dev.says(/^hello {3}.*(?:ENOSPC|no space)/im);
    expect(await callHello(weir.url)).toBe("200 before");
    disk.empty();
    await replies(weir.url, "without room");
    dev.interrupt();
    expect(await dev.end).toBe(130);
    await weir.stop();
  } finally {
    spawnSync("umount", ["-l", snapshots]);
  }
});
