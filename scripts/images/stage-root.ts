import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { chmod, copyFile, mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

import { findTool } from "../debian-tool.ts";

const run = promisify(execFile);

/** The content of a small system. */
export interface RootContent {
  /** Its name, for people. */
  readonly title: string;
  /** Files of this machine that go to `/usr/bin`, with their libraries. */
  readonly programs: readonly string[];
  /** Programs and extension modules that are staged otherwise, with their libraries here. */
  readonly linked?: readonly string[];
  /** The user its processes run as; the group has the same name and number. */
  readonly user: { readonly name: string; readonly id: number; readonly home: string; readonly shell: string };
  /** Directories that everybody can write to. */
  readonly writable: readonly string[];
}

/** Directories that are below `/usr` in the image, with a link from the root. */
const merged = ["bin", "sbin", "lib", "lib64"];
const directories = ["etc/ssl/certs", "root", "tmp", "proc", "sys", "dev", "run"];
/** Loaded by name when a program looks up an address or a user. */
const nameLibraries = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];
const certificates = "/etc/ssl/certs/ca-certificates.crt";

/**
 * Stages a small system in `root`: only programs with their libraries, users and certificates. Returns the files of
 * this machine that it was made from.
 */
export async function stageRoot(root: string, content: RootContent): Promise<string[]> {
  for (const name of merged) {
    await mkdir(join(root, "usr", name), { recursive: true });
    await symlink(`usr/${name}`, join(root, name));
  }
  for (const name of [...directories, ...content.writable]) await mkdir(join(root, name), { recursive: true });
  for (const name of content.writable) await chmod(join(root, name), 0o1777);
  for (const [path, text] of Object.entries(filesOf(content))) await writeFile(join(root, path), text);
  await copyFile(certificates, join(root, certificates)).catch(() => {});

  const used: string[] = [];
  const libraries = new Set<string>();
  for (const program of content.programs) {
    used.push(await place(root, program, join("usr/bin", basename(program))));
    for (const library of await librariesOf(program)) libraries.add(library);
  }
  for (const file of content.linked ?? []) for (const library of await librariesOf(file)) libraries.add(library);
  const libraryDirectories = new Set([...libraries].map(dirname));
  for (const name of nameLibraries) for (const directory of libraryDirectories) libraries.add(join(directory, name));
  for (const library of libraries) {
    const found = await realpath(library).catch(() => undefined);
    if (found !== undefined) used.push(await place(root, found, library));
  }
  return used;
}

/** Paths of the programs in `names` that this system has. */
export function programsFound(names: readonly string[]): string[] {
  return names.map((name) => findTool(name)).filter((path) => path !== undefined);
}

function filesOf({ title, user }: RootContent): Readonly<Record<string, string>> {
  const shell = user.shell === "" ? "/sbin/nologin" : user.shell;
  return {
    "etc/passwd": `root:x:0:0:root:/root:${shell}\n${user.name}:x:${user.id}:${user.id}:${user.name}:${user.home}:${shell}\n`,
    "etc/group": `root:x:0:\n${user.name}:x:${user.id}:\n`,
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "etc/os-release": `NAME="${title}"\nID=weir\n`,
  };
}

async function place(root: string, from: string, to: string): Promise<string> {
  const source = await realpath(from);
  await mkdir(dirname(join(root, to)), { recursive: true });
  await copyFile(source, join(root, to), constants.COPYFILE_FICLONE);
  await chmod(join(root, to), 0o755);
  return source;
}

/** The shared libraries of a program, with the loader; none if it is linked statically. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await run("ldd", [program]).catch(() => ({ stdout: "" }));
  return [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = ""]) => path);
}
